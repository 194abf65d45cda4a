import Foundation
import TestSupport
import Testing

/// `martlet init` as users run it.
@Suite struct InitCommandTests {
    private func martlet(_ arguments: [String], in directory: TemporaryDirectory) async throws -> ProgramResult {
        try await run(
            [try TestTools.builtProduct("martlet")] + arguments, in: directory.path,
            environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path("home")])
    }

    @Test(
        .proves(
            .settings,
            "`martlet init --write` writes the bot file with the bot's name and the line of the JSON Schema, and says what comes next"
        ))
    func testThatItWritesTheFileAndSaysWhatComesNext() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let settings = try directory.write("martlet.yml", "state: \(directory.path("state"))\n")
            let command = ["init", "--settings", settings, "--write"]
            // when
            let written = try await martlet(command + ["https://git.example/acme/Kit_2.git"], in: directory)
            // then
            #expect(written.status == 0, "\(written.stderr)")
            let path = directory.path("bots/kit_2.yml")
            #expect(written.stdout.hasPrefix("\(path) is written. The bot's name is kit_2. What comes next:\n"))
            for command in ["lint \(path)", "bot kit_2 --plan", "webhook kit_2"] {
                expectContains(written.stdout, command)
            }
            let text = try directory.text("bots/kit_2.yml")
            let lines = text.split(separator: "\n")
            let schema = directory.path("home/.local/share/martlet/bot.schema.json")
            #expect(lines[0] == "# yaml-language-server: $schema=\(schema)")
            expectContains(text, "\nrepository: https://git.example/acme/Kit_2.git\n")
            expectContains(text, "product: kit_2 ")
            #expect(!text.contains("NAME"))
            let lint = try await martlet(["lint", path], in: directory)
            #expect(lint.status == 0 && lint.stdout.isEmpty, "\(lint.stdout)")
            let printed = try await martlet(["schema", "bot"], in: directory)
            #expect(try directory.text("home/.local/share/martlet/bot.schema.json") == printed.stdout)
            // when: it is there already
            let again = try await martlet(command + ["https://git.example/acme/Kit_2.git"], in: directory)
            let other = try await martlet(command + ["/srv/kit.git", "--name", "other"], in: directory)
            // then
            #expect(again.status == 73)
            expectContains(again.stderr, "is not overwritten")
            #expect(other.status == 0, "\(other.stderr)")
            #expect(try directory.text("bots/kit_2.yml") == text)
            #expect(FileManager.default.fileExists(atPath: directory.path("bots/other.yml")))
        }
    }

    @Test func testThatWhatCannotBeWrittenIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let settings = try directory.write("martlet.yml", "state: \(directory.path("state"))\n")
            try directory.write("bots", "a file, not a directory")
            for (arguments, status, sentence) in [
                (["/srv/kit", "--write"], Int32(73), "cannot be made: Not a directory"),
                (["/srv/kit", "--write", "--name", "Kit"], 64, "--name Kit cannot be a bot's name"),
                (["/srv/---", "--write"], 64, "write --name NAME"),
                (["kit", "--write"], 1, "no bot file can be made for kit"),
            ] {
                // when
                let result = try await martlet(["init", "--settings", settings] + arguments, in: directory)
                // then
                #expect(result.status == status, "\(arguments): \(result.stderr)")
                expectContains(result.stderr, sentence)
            }
            let printed = try await martlet(["init", "https://h/kit.git"], in: directory)
            expectContains(printed.stdout, "# product: NAME")
        }
    }
}
