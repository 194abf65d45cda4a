import Model
import Settings
import TestSupport
import Testing

@Suite struct InitTemplateTests {
    @Test(
        .proves(.settings, "Every sample of the documentation and of `martlet init` is valid"),
        arguments: ["https://github.com/acme/kit.git", "git@h:acme/kit.git", "/srv/kit", "https://h/a:b'c"])
    func testThatItLintsClean(_ url: String) throws {
        let text = InitTemplate.botFile(repository: url)
        #expect(Lint.file(path: "bots/kit.yml", text: text).isEmpty)
        let bot = try #require(BotFileReader.read(yaml: text, file: "k", name: Name(nearest: "k")).value)
        #expect(bot.repository == url)
    }

    @Test func testThatEverySampleInItIsValidWithoutItsSign() {
        let text = InitTemplate.botFile(repository: "https://h/kit.git")
            .split(separator: "\n").dropFirst(3)
            .map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0 }.joined(separator: "\n")
            .replacing("NAME", with: "kit")
        let diagnostics = Lint.file(path: "bots/kit.yml", text: "repository: https://h/kit.git\n" + text)
        #expect(diagnostics.isEmpty)
    }

    @Test func testThatItSaysWhatIsWrongWithAnAddress() {
        #expect(InitTemplate.problem(with: "kit") != nil)
        #expect(InitTemplate.problem(with: "https://h/kit.git") == nil)
    }
}
