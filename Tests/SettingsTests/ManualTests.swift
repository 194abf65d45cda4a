import Foundation
import Settings
import TestSupport
import Testing

/// Every sample of the documentation is read by the reader that it is for.
@Suite struct ManualTests {
    @Test func testThatEverySampleOfTheManualIsValid() throws {
        // given
        let names = try FileManager.default.subpathsOfDirectory(atPath: Project.root + "/docs")
        let blocks = try names.filter { $0.hasSuffix(".md") && !$0.hasPrefix("internals/") }.flatMap { name in
            try String(contentsOfFile: Project.root + "/docs/" + name, encoding: .utf8)
                .components(separatedBy: "```yaml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        }
        // when, then
        #expect(blocks.count >= 5)
        for block in blocks {
            let mark = block.prefix { $0 != "\n" }
            let path = mark.dropFirst(2).prefix { $0 != ":" && $0 != " " }
            guard mark.hasPrefix("# "), path.hasSuffix(".yml") else {
                Issue.record("a yaml block of the manual does not begin with its file's name: \(mark)")
                continue
            }
            let diagnostics = Lint.file(path: String(path), text: block)
            #expect(diagnostics.isEmpty, "\(diagnostics.map(\.description).joined(separator: "\n"))\n\(block)")
        }
    }
}
