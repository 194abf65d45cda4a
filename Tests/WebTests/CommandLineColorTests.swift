import Foundation
import TestSupport
import Testing

/// When the command line writes colors, and what it never writes.
@Suite struct CommandLineColorTests {
    private static let red = "\u{1B}[31mtest-failures\u{1B}[0m"

    /// Runs a command on a pseudo-terminal by script(1).
    private func onTerminal(
        _ arguments: String, _ web: WebFixture, _ environment: [String: String]
    ) async throws -> String {
        let program = try TestTools.builtProduct("martlet")
        let result = try await run(
            ["script", "-qefc", "\(program) \(arguments)", "/dev/null"],
            environment: ["PATH": "/usr/bin:/bin", "MARTLET_URL": web.socket].merging(environment) { $1 })
        return result.stdout
    }

    @Test(
        .proves(
            .programs,
            "The command line colors results on a terminal; NO_COLOR, TERM=dumb, --no-color and --color never turn that off"
        ),
        arguments: [
            (["TERM": "xterm"], "", true), (["TERM": "xterm", "NO_COLOR": ""], "", true),
            (["TERM": "xterm", "NO_COLOR": "1"], "", false), (["TERM": "dumb"], "", false), ([:], "", false),
            (["TERM": "xterm"], "--no-color", false), (["TERM": "xterm"], "--color never", false),
            (["TERM": "dumb", "NO_COLOR": "1"], "--color always", true),
        ])
    func testThatATerminalGetsColorsUnlessTheyAreRefused(
        _ environment: [String: String], _ options: String, isColored: Bool
    ) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let printed = try await onTerminal("integrations kit \(options)", web, environment)
            // then
            expectContains(printed, "kit#1")
            #expect(printed.contains(Self.red) == isColored, "\(printed)")
            #expect(printed.contains("\u{1B}") == isColored)
        }
    }

    @Test(
        .proves(.programs, "A pipe gets no escape sequence, unless --color always asks for it"),
        arguments: [
            ["integrations", "kit"], ["bots"], ["show", "kit#1"], ["issues", "kit#1"], ["tests", "kit#1"],
            ["versions", "kit"], ["log", "kit#1", "--configuration", "debug"],
            ["log", "kit#1", "--configuration", "debug", "--follow"], ["log", "kit#1", "--failed"], ["watch", "kit#1"],
        ])
    func testThatAPipeGetsColorsOnlyOnRequest(_ command: [String]) async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let plain = try await martlet(command, web)
            let colored = try await martlet(command + ["--color", "always"], web)
            // then
            #expect(!plain.stdout.contains("\u{1B}"), "\(plain.stdout)")
            expectContains(colored.stdout, "\u{1B}[")
            let stripped = colored.stdout.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            expectEqualLines(stripped, plain.stdout)
        }
    }

    @Test func testThatAnUnknownChoiceIsRefused() async throws {
        try await withWeb { web in
            let result = try await martlet(["bots", "--color", "sometimes"], web)
            #expect(result.status == 64)
            expectContains(result.stderr, "auto")
        }
    }
}
