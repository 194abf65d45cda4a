import Settings
import TestSupport
import Testing

@Suite struct LintTests {
    @Test(arguments: [
        (".martlet.yml", "x", Lint.Kind.recipe), ("/etc/martlet/martlet.yml", "repository: x", .settings),
        ("etc/bots/kit.yml", "listen: x", .bot), ("kit.yml", "repository: /r", .bot), ("a.yml", "analyze: []", .recipe),
        ("a.yml", "listen: 1", .settings), ("a.yml", "[", .bot), ("a.yml", "foo: 1\nconfigurations:\n", .recipe),
    ])
    func testThatItTellsWhatAFileIs(_ path: String, _ text: String, _ kind: Lint.Kind) {
        #expect(Lint.recognized(path: path, text: text) == kind)
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            (".martlet.yml", "configurations: { a: { build: 'a\n\n  b' } }", true),
            (".martlet.yml", "configurations: { a: { test: \"a\\nb\" } }", true),
            (".martlet.yml", "analyze: [{ run: \"a\\nb\" }]", true),
            (".martlet.yml", "configurations: { a: { steps: [{ name: x, step: testing, run: \"a\\nb\" }] } }", true),
            ("bots/kit.yml", "repository: /r\nrecipe: { configurations: { a: { build: \"a\\nb\" } } }\n", true),
            (".martlet.yml", "configurations: { a: { build: a } }", false),
            (".martlet.yml", "configurations: { a: { build: \"a\\n\" } }", false), ("martlet.yml", "listen: x", false),
            ("bots/kit.yml", "repository: /r\n", false), (".martlet.yml", "configurations: [", false),
        ])
    func testThatItSaysHowSeveralLinesRun(_ path: String, _ text: String, isSaid: Bool) {
        // when
        let remark = Lint.remark(path: path, bytes: Array(text.utf8))
        // then
        #expect(remark?.contains("set -e") ?? false == isSaid)
    }

    @Test(.proves(.settings, "`lint` reports file, line and column"))
    func testThatItChecksAsTheReadersDo() {
        #expect(Lint.file(path: "kit.yml", text: "repository: /r\nbranch: x\n").map(\.line) == [2])
        #expect(
            Lint.file(path: "Kit.yml", text: "repository: /r\n").map(\.message).first?.contains("write `kit`") == true)
        #expect(Lint.file(path: ".martlet.yml", text: "configurations: { debug: }\n").isEmpty)
        #expect(Lint.file(path: "x", text: "configurations: {}\n", kind: .recipe).count == 1)
        #expect(Lint.file(path: "martlet.yml", bytes: [0xFF]).map(\.line) == [1])
    }
}
