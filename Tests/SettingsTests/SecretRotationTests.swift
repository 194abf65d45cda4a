import Foundation
import Glibc
import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct SecretRotationTests {
    private static let now = Timestamp(secondsSinceEpoch: 1_772_366_400)
    private static let tomorrow = now + .seconds(86_400)

    /// Runs a test with a store in which `hook` is `old`.
    private func withSecret(_ body: (SecretStore, TemporaryDirectory) throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            try store.set("hook", "old\n")
            try body(store, directory)
        }
    }

    @Test(
        .proves(
            .operating,
            "After `martlet secret rotate`, webhooks may be signed with the value before until the overlap ends"))
    func testThatTheValueBeforeIsAcceptedUntilTheOverlapEnds() async throws {
        try await withSecret { store, directory in
            // when
            try store.rotate("hook", "new\n", acceptingPreviousUntil: Self.tomorrow)
            // then
            #expect(try store.value("hook") == "new")
            #expect(try store.acceptedValues("hook", at: Self.now) == ["new", "old"])
            #expect(store.overlapEnd(of: "hook", at: Self.now) == Self.tomorrow)
            #expect(try store.acceptedValues("hook", at: Self.tomorrow) == ["new"])
            #expect(store.overlapEnd(of: "hook", at: Self.tomorrow) == nil)
            let listed = try store.list(at: Self.now)
            #expect(listed.map(\.name) == ["hook"])
            #expect(listed.map(\.overlapEnd) == [Self.tomorrow])
            var status = stat()
            #expect(stat(directory.path("secrets/.hook.previous"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
    }

    /// A value that was stolen ends at once, whichever command replaces it.
    @Test(
        .proves(.operating, "A value that was stolen ends at once: by `--overlap 0`, `--end-overlap` and `secret set`"))
    func testThatAStolenValueEndsAtOnce() async throws {
        for step in ["set", "rotate", "end", "remove", "twice"] {
            try await withSecret { store, directory in
                // given
                try store.rotate("hook", "new", acceptingPreviousUntil: Self.tomorrow)
                // when
                var expected = ["newest"]
                switch step {
                case "set": try store.set("hook", "newest")
                case "rotate": try store.rotate("hook", "newest", acceptingPreviousUntil: nil)
                case "twice":
                    try store.rotate("hook", "newest", acceptingPreviousUntil: Self.tomorrow)
                    expected = ["newest", "new"]
                case "end":
                    #expect(try store.endOverlap(of: "hook", at: Self.now))
                    #expect(try !store.endOverlap(of: "hook", at: Self.now))
                    expected = ["new"]
                default:
                    #expect(try store.remove("hook"))
                    #expect(try !store.remove("hook"))
                    expected = []
                }
                // then
                #expect(try store.acceptedValues("hook", at: Self.now) == expected, "\(step)")
                #expect((access(directory.path("secrets/.hook.previous"), F_OK) == 0) == (step == "twice"), "\(step)")
            }
        }
    }

    @Test func testThatAnOverlapOverTheLongestOrAReadableFileIsNotAccepted() async throws {
        try await withSecret { store, directory in
            // given
            let longest = Self.now + SecretStore.longestOverlap
            try store.rotate("hook", "new", acceptingPreviousUntil: longest)
            #expect(try store.acceptedValues("hook", at: Self.now) == ["new", "old"])
            // when
            try store.rotate("hook", "third", acceptingPreviousUntil: longest + .milliseconds(1))
            // then
            #expect(try store.acceptedValues("hook", at: Self.now) == ["third"])
            // when
            try store.rotate("hook", "fourth", acceptingPreviousUntil: Self.tomorrow)
            #expect(chmod(directory.path("secrets/.hook.previous"), 0o640) == 0)
            // then
            #expect(try store.acceptedValues("hook", at: Self.now) == ["fourth"])
        }
    }

    @Test(
        arguments: [
            "", "\n", "old", "x\nold", "1772452800000\n", "1772452800000", "99999999999999999999\nold", "-1\nold",
        ])
    func testThatADamagedFileAcceptsNothing(text: String) async throws {
        try await withSecret { store, directory in
            try directory.write("secrets/.hook.previous", text, mode: 0o600)
            #expect(try store.acceptedValues("hook", at: Self.now) == ["old"])
        }
    }

    @Test func testThatARotationNeedsAnotherValueAndOneBefore() async throws {
        try await withSecret { store, directory in
            for (name, value) in [("none", "new"), ("hook", "old\n"), ("hook", ""), ("hook", "a\u{1B}"), ("../x", "y")]
            {
                #expect(throws: SettingsError.self) {
                    try store.rotate(name, value, acceptingPreviousUntil: Self.tomorrow)
                }
            }
            #expect(try store.acceptedValues("hook", at: Self.now) == ["old"])
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.path("secrets"))
            #expect(files == ["hook"])
            #expect(throws: SettingsError.self) { try store.remove("../x") }
        }
    }

    @Test func testThatOnlyValuesOfEndedOverlapsAreRemoved() async throws {
        try await withSecret { store, directory in
            // given
            try store.set("other", "old")
            try store.rotate("hook", "new", acceptingPreviousUntil: Self.tomorrow)
            try store.rotate("other", "new", acceptingPreviousUntil: Self.tomorrow + .seconds(1))
            // when
            store.removeEndedValues(at: Self.tomorrow)
            // then
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.path("secrets")).sorted()
            #expect(files == [".other.previous", "hook", "other"])
        }
    }

    @Test func testThatACredentialIsListedAndAWithheldValueIsNotAccepted() async throws {
        try await withSecret { store, directory in
            // given
            try directory.write("credentials/hook", "other", mode: 0o440)
            try directory.write("credentials/unit", "value", mode: 0o440)
            let both = SecretStore(directory: store.directory, credentialsDirectory: directory.path("credentials"))
            // then
            #expect(try both.list(at: Self.now).map(\.name) == ["hook", "unit"])
            #expect(try both.list(at: Self.now).map(\.isCredential) == [false, true])
            // when
            try store.rotate("hook", "new", acceptingPreviousUntil: Self.tomorrow)
            // then
            #expect(try both.withholding { $0 == "old" }.acceptedValues("hook", at: Self.now) == ["new"])
        }
    }

    @Test(
        .proves(
            .operating,
            "`martlet secret list` has the names of secrets, when each changed, and the settings, bots and steps that use it; never a value"
        ))
    func testThatUsesAreListed() async throws {
        try await withSecret { store, directory in
            // given
            try directory.write(
                "bots/kit.yml",
                """
                repository: https://git.example:8443/acme/kit.git
                webhook: { secret: hook }
                notify:
                  - { name: chat, when: [broke], branches: [main], webhook: https://chat.example/x, secret: chat }
                secrets:
                  - { name: token, branches: [main] }
                recipe:
                  configurations:
                    debug:
                      steps:
                        - { name: deploy, step: testing, run: ./deploy, secrets: [token] }
                """)
            try store.set("git-git.example", "user:word")
            try store.set("unused", "x")
            let scan = BotDirectory(directory: directory.path("bots")).scan()
            #expect(scan.problems.flatMap(\.diagnostics).map(\.description) == [])
            var settings = ServiceSettings(state: "/s", bots: directory.path("bots"), concurrency: 1)
            settings.signing = "hook"
            var asked = Recipe(configurations: [])
            asked.analyze = [
                .command(Recipe.Command(run: "./analyze", secrets: ["token", "unused"]), name: Name(nearest: "lint"))
            ]
            // when
            let states = try SecretState.all(
                of: settings, scan.bots, recipes: [(bot: Name(nearest: "kit"), recipe: asked)], in: store, at: Self.now)
            // then
            let uses = states.map { "\($0.name) \($0.place) \($0.isOfWebhook): \($0.uses.joined(separator: ", "))" }
            #expect(
                uses == [
                    "git-git.example stored false: the repository of kit",
                    "hook stored true: `signing` of the settings, the webhook of kit",
                    "unused stored false: ",
                    "chat missing true: the notice chat of kit",
                    "token missing false: jobs of kit, the analysis `lint` of kit, the step `deploy` of `debug` of kit",
                ])
        }
    }
}
