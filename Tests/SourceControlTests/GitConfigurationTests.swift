import Basics
import TestSupport
import Testing

@testable import SourceControl

@Suite struct GitConfigurationTests {
    /// The configuration is read for each scan, over years.
    @Test func testThatReadingItKeepsNoMemory() async throws {
        try await withTemporaryDirectory { directory in
            // given: names that are compared with a pattern in vain
            let others = (0..<300).map { "[branch \"topic-\($0)\"]\n\tremote = origin\n" }
            let sections = others + ["[url \"https://base.example/\"]\n\tinsteadOf = https://other.example/\n"]
            let file = try directory.write(
                "gitconfig", sections.joined() + "[url]\n\tinsteadOf = https://forge.example/\n")

            // In a separate process, whose memory no other test uses.
            await #expect(processExitsWith: .success) { [file = file as String] in
                let configuration = GitConfiguration(files: [file])
                let before = try Self.memory()

                // when
                for _ in 0..<100 {
                    #expect(try configuration.rewritten("https://other.example/kit") == "https://base.example/kit")
                    #expect(try configuration.rewritten("https://forge.example/kit") == "https://forge.example/kit")
                }

                // then: with a pattern it is 340 MB
                #expect(try Self.memory() - before < 100_000)
            }
        }
    }

    /// Returns this process's own memory, in kB (proc_pid_status(5)).
    private static func memory() throws -> Int {
        let text = String(decoding: try WholeFile.read("/proc/self/status", limit: 1 << 20), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
