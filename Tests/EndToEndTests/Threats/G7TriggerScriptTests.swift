import Basics
import BotSupport
import Execution
import Foundation
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// Row G7 for the operator's scripts, which run outside of the sandbox: a commit's files are only data to the programs of such a script.
@Suite(
    .proves(
        .triggers,
        "A script starts in an empty directory; no module, option, link or repository among the commit's files influences it or its programs (G7)"
    ), .threat("G7"))
struct G7TriggerScriptTests {
    /// Returns a commit whose root git takes for a bare repository that starts a program, with modules and options for other programs.
    private static func files(_ canary: String) -> [String: String] {
        [
            "HEAD": "ref: refs/heads/main\n", "objects/info/keep": "", "refs/heads/keep.txt": "",
            "config":
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch \(canary); false\"\n",
            "json.py": "open('\(canary)', 'w')\n", "--checkpoint=1": "", "--checkpoint-action=exec=sh x.sh": "",
            "x.sh": "touch \(canary)\n",
        ]
    }

    /// - Returns: The output of the script.
    private func told(
        by script: String, files: [String: String] = [:], link: String? = nil
    ) async throws -> String {
        var log = ""
        let plan = BotPlan(
            file: "triggers: [{ name: tell, run: tell }]\n", scripts: ["tell": "#!/bin/sh\n" + script], executor: .local
        )
        try await withBot(plan) { bot in
            try bot.directory.write("secrets/other-token", "hunter2-hunter2", mode: 0o600)
            if let link {
                try Directory(opening: bot.work.path).makeLink("VERSION", target: Array(bot.directory.path(link).utf8))
            }
            let files = files.isEmpty ? Self.files(bot.directory.path("canary")) : files
            let integration = try await bot.integrate(Commit(files: files))
            let record = try #require(integration.trigger("tell"))
            #expect(record.state == .succeeded, "\(record.reason ?? "")")
            log = try bot.log(of: record)
            expectNoFile(bot.directory.path("canary"))
        }
        return log
    }

    @Test func testThatItBeginsInAnEmptyDirectory() async throws {
        // when
        let log = try await told(by: "find . -mindepth 1; echo \"$(ls \"$MARTLET_SOURCE_DIR/x.sh\" | wc -l) there\"\n")
        // then
        #expect(log == "1 there\n")
    }

    @Test(.program("git")) func testThatGitRunsNothingOfTheCommit() async throws {
        // when
        let log = try await told(
            by: """
                git status 2>&1; git -C "$MARTLET_SOURCE_DIR" status 2>&1
                cd "$MARTLET_SOURCE_DIR" && git status 2>&1
                cd objects && git status 2>&1
                exit 0

                """)
        // then
        let lines = log.split(separator: "\n", omittingEmptySubsequences: true)
        #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("fatal: not a git repository") }, "\(log)")
    }

    /// Without the `.git`, as in a copy of the files, git still takes none of them for a repository.
    @Test(.program("git")) func testThatGitRunsNothingOfACopyOfTheFiles() async throws {
        // when
        let log = try await told(
            by: "cp -r \"$MARTLET_SOURCE_DIR\" copy && rm -f copy/.git && cd copy && git status 2>&1; exit 0\n")
        // then
        expectContains(log, "safe.bareRepository")
    }

    @Test(.program("python3")) func testThatNoModuleOrOptionOfTheCommitIsTaken() async throws {
        // when
        let log = try await told(
            by:
                "echo '{}' | python3 -m json.tool; tar -cf /dev/null -- * 2>/dev/null; tar -cf /dev/null * 2>/dev/null; exit 0\n"
        )
        // then
        #expect(log == "{}\n")
    }

    @Test func testThatALinkInTheCommitLeadsToNoSecret() async throws {
        // when
        let log = try await told(
            by: "cat \"$MARTLET_SOURCE_DIR/VERSION\" 2>&1; cat VERSION 2>&1; exit 0\n", files: ["a": "1\n"],
            link: "secrets/other-token")
        // then
        #expect(!log.contains("hunter2"))
        expectContains(log, "No such file")
    }

    @Test func testThatAScriptFindsTheFilesWhereItIsTold() async throws {
        // when
        let log = try await told(
            by: "cd \"$MARTLET_SOURCE_DIR\" && cat a/b && [ \"$PWD\" = \"$XCS_SOURCE_DIR\" ] && echo same\n",
            files: ["a/b": "told\n"])
        // then
        #expect(log == "told\nsame\n")
    }
}
