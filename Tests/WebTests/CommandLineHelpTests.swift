import Foundation
import TestSupport
import Testing

/// What helps a user to write a command: suggestions, completions, man pages.
@Suite struct CommandLineHelpTests {
    @Test(
        .proves(.programs, "A mistyped command or option is answered with the one that was probably meant"),
        arguments: [
            (["integrat", "kit"], "did you mean `integrate`?"), (["lgo", "kit#1"], "did you mean `log`?"),
            (["unmtue"], "did you mean `unmute`?"), (["token", "lsit"], "did you mean `list`?"),
            (["help", "verifi"], "did you mean `verify`?"), (["zzz"], "there is no command `martlet zzz`;"),
            (["bots", "--jsno"], "Did you mean '--json'?"), (["integrate", "kit", "--wiat"], "Did you mean '--wait'?"),
        ])
    func testThatAMistypedWordIsAnsweredWithTheNearestOne(_ arguments: [String], _ sentence: String) async throws {
        let result = try await run(
            [try TestTools.builtProduct("martlet")] + arguments, environment: ["PATH": "/usr/bin:/bin"])
        #expect(result.status == 64)
        #expect(result.stdout.isEmpty)
        expectContains(result.stderr, sentence)
    }

    @Test(.proves(.programs, "An argument from outside never writes an escape sequence to the terminal"))
    func testThatAnErrorRepeatsNoEscapeSequence() async throws {
        let evil = "kit\u{1B}]0;title\u{7}\u{9B}2J\u{202E}"
        for arguments in [
            [evil], ["show", evil], ["bots", evil], ["bots", "--\(evil)"], ["token", evil], ["schema", evil],
            ["init", evil], ["init", "/srv/kit", "--write", "--name", evil], ["lint", evil], ["run", evil],
            ["log", "kit", "--color", evil],
        ] {
            let result = try await run(
                [try TestTools.builtProduct("martlet")] + arguments,
                environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "MARTLET_URL": "/nowhere"])
            #expect(result.status != 0, "\(arguments)")
            let output = result.stdout + result.stderr
            #expect(
                !output.unicodeScalars.contains { "\u{1B}\u{7}\u{9B}\u{202E}".unicodeScalars.contains($0) }, "\(output)"
            )
        }
    }

    /// Runs bash's completion of a line whose last word is incomplete.
    private func completed(_ words: [String], _ environment: [String: String]) async throws -> ProgramResult {
        let program = try TestTools.builtProduct("martlet")
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            shopt -s extglob progcomp
            source <('\(program)' --generate-completion-script bash)
            martlet() { '\(program)' "$@"; }
            COMP_WORDS=('\(program)' \(list)); COMP_CWORD=\(words.count)
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            _martlet '\(program)' "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        return try await run(
            ["bash", "-c", script], environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 })
    }

    @Test(.proves(.programs, "Completions have the names of bots, integrations and products, as the daemon has them"))
    func testThatBashCompletesNames() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            for (words, expected) in [
                (["integrate", ""], "kit"), (["show", "k"], "kit"), (["show", "kit#"], "kit#3"),
                (["versions", "k"], "kit"), (["token", "create", "me", "--role", "o"], "operator"),
                (["integr"], "integrate"),
            ] {
                // when
                let result = try await completed(words, ["MARTLET_URL": web.socket])
                // then
                #expect(
                    result.stdout.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.contains(
                        expected),
                    "\(words): \(result.stdout)\(result.stderr)")
            }
        }
    }

    @Test(.proves(.programs, "Completions are silent while the daemon is away"))
    func testThatCompletionIsSilentWhileTheDaemonIsAway() async throws {
        for place in ["/nowhere/martlet.socket", "http://127.0.0.1:9", "http://a:b@c"] {
            let result = try await completed(["show", "k"], ["MARTLET_URL": place, "MARTLET_URLL": "x"])
            #expect(result.stdout.trimmingCharacters(in: .newlines).isEmpty)
            #expect(result.stderr.isEmpty)
        }
    }

    @Test(
        .proves(.programs, "Completions are made for bash, zsh and fish, and name every command"),
        arguments: ["bash", "zsh", "fish"])
    func testThatEachShellHasAScript(_ shell: String) async throws {
        let result = try await run([
            try TestTools.builtProduct("martlet"), "--generate-completion-script", shell,
        ])
        #expect(result.status == 0)
        for word in ["integrate", "watch", "pull-requests", "---completion"] { expectContains(result.stdout, word) }
        #expect(!result.stdout.contains("manual-pages"))
    }

    @Test(.proves(.programs, "Each command has a man page, made from its help"))
    func testThatEachCommandHasAManPage() async throws {
        try await withTemporaryDirectory { directory in
            // when
            let program = try TestTools.builtProduct("martlet")
            let result = try await run([program, "manual-pages", directory.path])
            // then
            #expect(result.status == 0, "\(result.stderr)")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(names.contains("martlet.1") && names.contains("martlet-token-create.1"))
            #expect(!names.contains { $0.contains("manual-pages") || $0.contains("-help") })
            let main = try directory.text("martlet.1")
            for name in names where name.split(separator: "-").count == 2 && name != "martlet.1" {
                expectContains(main, ".It Xr \(name.dropLast(2)) 1\n")
            }
            let integrate = try directory.text("martlet-integrate.1")
            expectContains(integrate, ".Nm martlet-integrate\n.Nd queues an integration")
            expectContains(integrate, ".Op Fl -commit Ar commit\n")
            expectContains(integrate, ".Ar bot\n")
            // mandoc is not on every machine.
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc") else { return }
            let lint = try await run(
                ["/usr/bin/mandoc", "-Tlint", "-Wwarning"] + names.map { directory.path($0) })
            #expect(lint.stdout + lint.stderr == "")
        }
    }

    @Test(.proves(.programs, "`martlet log --failed` prints the logs of what failed, each below its name"))
    func testThatTheLogsOfWhatFailedArePrinted() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let red = try await martlet(["log", "kit#1", "--failed"], web)
            let green = try await martlet(["log", "kit#3", "--failed"], web)
            let both = try await martlet(["log", "kit#1", "--failed", "--follow"], web)
            // then
            #expect(red.status == 0, "\(red.stderr)")
            #expect(red.stdout.hasPrefix("==> kit#1 "))
            expectContains(red.stdout, "Test run started.")
            #expect(green.status == 0 && green.stdout.isEmpty)
            expectContains(green.stderr, "nothing of kit#3 failed")
            #expect(both.status == 64)
        }
    }

    @Test(
        .proves(
            .programs, "`martlet watch` follows an integration to its end, names failing tests, and ends by the result")
    )
    func testThatWatchEndsByTheResult() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let red = try await martlet(["watch", "kit#1"], web)
            let green = try await martlet(["watch", "kit"], web)
            // then
            #expect(red.status == 1)
            expectContains(red.stdout, "failed: KitTests.ParserTests/parsesAnEmptyLine() [")
            #expect(red.stdout.hasSuffix("kit#1 test-failures: 12 tests, 1 failing, 2 warnings\n"))
            #expect(green.status == 0, "\(green.stderr)")
            #expect(green.stdout.hasSuffix("kit#3 succeeded: 12 tests\n"))
            #expect(try await martlet(["watch", "kit#99"], web).status == 66)
        }
    }

    @Test(.proves(.programs, "`martlet issues` names the failing test"))
    func testThatAnIssueNamesItsTest() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let issues = try await martlet(["issues", "kit#1"], web)
            expectContains(issues.stdout, "test-failure: KitTests.ParserTests/parsesAnEmptyLine(): ")
        }
    }
}
