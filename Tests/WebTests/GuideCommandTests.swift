import Foundation
import TestSupport
import Testing

/// The commands that the pages for users show.
@Suite(.proves(.settings, "Commands and options in the documentation's samples exist, and the samples are well-formed"))
struct GuideCommandTests {
    /// A command of the program as a page has it: its names, such as `token create`, and its options.
    private struct Shown: Hashable {
        let names: [String]
        let options: [String]

        /// - Returns: `nil` if the text does not begin with the program.
        init?(_ text: Substring) {
            var words = text.split(separator: " ").map(String.init)
            if words.first == "sudo" { words.removeFirst() }
            guard words.first == "martlet", words.count > 1 else { return nil }
            names = Array(words[1...].prefix(["token", "secret"].contains(words[1]) ? 2 : 1))
            options = words.filter { $0.hasPrefix("--") }
        }
    }

    @Test func testThatTheirShellSamplesAreWellFormed() async throws {
        for page in try DocumentationPage.all() {
            for block in page.blocks("sh") {
                let result = try await run(["sh", "-n"], input: block)
                #expect(result.status == 0, "\(page.name): \(result.stderr)\n\(block)")
            }
        }
    }

    @Test func testThatTheirCommandsAndOptionsExist() async throws {
        // given
        let blocks = try DocumentationPage.all().flatMap { $0.blocks("sh") }
        let commands = Set(
            blocks.flatMap { $0.split(whereSeparator: { "\n|;&".contains($0) }) }.compactMap { Shown($0) })
        let martlet = try TestTools.builtProduct("martlet")
        #expect(commands.count >= 40)
        for (names, shown) in Dictionary(grouping: commands, by: \.names) {
            // when
            let help = try await run([martlet] + names + ["--help"])
            // then
            #expect(help.status == 0, "martlet \(names): \(help.stderr)")
            let words = Set(help.stdout.split(whereSeparator: { " \n,[]<>|()".contains($0) }).map(String.init))
            #expect(words.contains(names[0]), "`martlet \(names)` is no command:\n\(help.stdout)")
            for option in shown.flatMap(\.options) {
                #expect(words.contains(option), "`martlet \(names)` has no option \(option)")
            }
        }
    }
}
