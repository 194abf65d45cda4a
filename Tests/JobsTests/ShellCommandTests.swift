import TestSupport
import Testing

@testable import Jobs

@Suite struct ShellCommandTests {
    private func status(_ text: String, shell: String = "/bin/sh", path: String = "/usr/bin:/bin") async throws -> Int32
    {
        let environment = ["PATH": path, "TMPDIR": "/tmp"]
        return try await run(ShellCommand.arguments(for: text, shell: shell), in: "/", environment: environment).status
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            "false\necho ok", "echo a\nfalse\necho b", "false; echo ok", "there-is-no-such-program\necho the rest",
            "false",
            "false && echo b", "false\r\necho ok\r\n", "# first\n\nfalse\necho ok\n\n", "(false; echo inner)\necho ok",
            "cat <<'END'\ntext\nEND\nfalse\necho ok", "for i in 1 2; do\n  false\ndone\necho ok",
            "cat /there/is/none | cat", "false | tee /dev/null\necho ok",
        ], ["/bin/sh", "/bin/bash"])
    func testThatTheFirstFailureFailsTheCommand(_ text: String, shell: String) async throws {
        #expect(try await status(text, shell: shell) != 0)
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            "true\necho ok", "set +e\nfalse\necho ok", "false || true\necho ok", "if false; then echo a; fi\necho ok",
            "! false\necho ok", "[ -e /there-is-none ] && echo there\necho ok", "echo a | grep -q b || echo none",
            "cat <<'END' | cat\nfalse\nEND", "set +o pipefail 2>/dev/null || true\necho ok",
        ], ["/bin/sh", "/bin/bash"])
    func testThatWhatACommandExpectsToFailDoesNotFailIt(_ text: String, shell: String) async throws {
        #expect(try await status(text, shell: shell) == 0)
    }

    @Test(arguments: ["false\necho ok", "x=$(false; echo text)\necho \"$x\""])
    func testThatWithoutBashTheFirstFailureStillDecides(_ text: String) async throws {
        #expect(try await status(text, path: "/there/is/none") != 0)
        #expect(try await status("echo ok", path: "/there/is/none") == 0)
    }

    @Test(
        .proves(
            .issueHistory,
            "A recipe's command ends at its first failure, also in a pipeline; `#!` names its interpreter; only comments are an error; `lint` says how lines run"
        ),
        arguments: [
            ("#!/bin/bash\n[[ a == a ]]", 0), ("#!/bin/bash\nif [[ a == a ]]; then exit 3; fi", 3),
            ("#!/usr/bin/env bash\nfalse | cat\necho ok", 1), ("#!/bin/sh -eu\necho $THERE_IS_NONE", 2),
            ("#!/usr/bin/env -S FOO=4 bash\nexit $FOO", 4), ("#!bash\nexit 5", 5), ("#!/bin/sh\r\nexit 6\r\n", 6),
            ("#!/usr/bin/env python3\nimport sys\nsys.exit(7)", 7), ("#!/usr/bin/python3\nraise SystemExit(0)", 0),
            ("#!\nexit 8", 8), ("echo a\n#!/usr/bin/python3\nexit 9", 9), ("#!/there/is/none\necho ok", 127),
        ])
    func testThatTheFirstLineNamesTheInterpreter(_ text: String, expected: Int32) async throws {
        let found = try await status(text)
        // Shells differ in the exit status for an unset variable.
        #expect(expected == 2 ? found != 0 : found == expected)
    }

    @Test func testThatTheTextSeesNoVariableOfOursAndItsOwnNames() async throws {
        // given
        let environment = ["PATH": "/usr/bin:/bin", "text": "mine"]
        // when
        let result = try await run(
            ShellCommand.arguments(for: "echo $# $text ${MARTLET_COMMAND-unset}\nenv"), in: "/",
            environment: environment)
        // then
        #expect(result.stdout.hasPrefix("0 mine unset\n"))
        #expect(!result.stdout.contains("MARTLET") && !result.stdout.contains("POSIXLY"))
    }

    @Test(arguments: [
        "make check", "true", "env python3 -m pytest -q", "cargo build --release", "npm run test:unit",
        "python3 A/b.py x=1 %d @here 1,2",
    ])
    func testThatASimpleCommandIsRunWithoutAFurtherShell(_ text: String) {
        #expect(ShellCommand.arguments(for: text) == ["/bin/sh", "-c", text])
    }

    @Test(arguments: [
        "make | cat", "a; b", "a && b", "a & b", "make\ncheck", "echo $HOME", "echo *", "ls ~", "a # b", "'a b' c",
        "A=1 make", "(make)", "make > log", "! make", "make\tcheck", "source env", ". ./env", "echo a", "[ a ]",
        "time make", "exit 3", "", " ", "exec make", "a?b", "a{1,2}", "\u{FC}ber", "./test.sh", "/opt/kit/check",
    ])
    func testThatWhatAShellGivesAMeaningIsRunByTheOneWithPipefail(_ text: String) {
        #expect(ShellCommand.arguments(for: text).first == "/bin/sh")
        #expect(ShellCommand.arguments(for: text).contains(ShellCommand.script), "\(text)")
    }

    /// The shell that calls a script without a first line `#!` runs it itself.
    @Test(.program("bash")) func testThatAScriptWithoutAFirstLineIsRunByTheShellWithPipefail() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("test.sh", "if [[ a == a ]]; then exit 7; fi\n")
            try await runExpectingSuccess(["chmod", "755", directory.path("test.sh")])
            // when
            let result = try await run(
                ShellCommand.arguments(for: "./test.sh"), in: directory.path, environment: ["PATH": "/usr/bin:/bin"])
            // then
            #expect(result.status == 7, "\(result.stderr)")
        }
    }

    /// Every word with a special meaning in one of the shells is known.
    @Test(.program("bash"), .program("dash"))
    func testThatNoBuiltinIsTakenForAProgram() async throws {
        // given: the shells' own lists; `true` and `false` are the same everywhere
        let bash = try await run(["bash", "-c", "compgen -bk"], in: "/").stdout.split(separator: "\n").map(String.init)
        let words = bash.filter { !["true", "false"].contains($0) }
        try #require(words.count > 50)
        // when
        let simple = words.filter { ShellCommand.isSimple($0) }
        // then
        #expect(simple == [])
    }
}
