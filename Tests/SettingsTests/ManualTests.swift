import Foundation
import Settings
import TestSupport
import Testing

/// The reader of each kind of file reads every sample of the manual.
@Suite struct ManualTests {
    @Test func testThatEverySampleOfTheManualIsValid() throws {
        // given
        let manual = try String(contentsOfFile: Project.root + "/docs/manual.md", encoding: .utf8)
        let blocks = manual.components(separatedBy: "```yaml\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
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
