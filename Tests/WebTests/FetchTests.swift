import Archives
import Basics
import Foundation
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

/// `martlet fetch`, `verify` and `signers` as another team runs them, with a real daemon's API.
@Suite(.program("ssh-keygen")) struct FetchTests {
    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatTheFirstFetchRemembersTheKeyAndWhatItKeepsIsVerifiedOffline() async throws {
        try await withFetchingTeam { team in
            // when
            let fetched = try await team.martlet(["fetch", "kit@~1.4", "--output", "got"])

            // then
            #expect(fetched.status == 0, "\(fetched.stderr)")
            #expect(fetched.stdout.split(separator: "\n").count == 2)
            expectContains(
                fetched.stderr, "\(team.key.publicKey.fingerprint) is remembered as a key of \(team.web.socket)")
            expectContains(fetched.stderr, "signed by \(team.web.socket)")
            expectFile(
                team.known,
                "\(team.web.socket),https://ci.acme.example namespaces=\"file\" \(team.key.publicKey)\n")
            #expect(
                try Directory(opening: team.web.directory.path("got")).entries().map(\.name) == [
                    "SHA256SUMS", "SHA256SUMS.sig", "kit-source.tar.gz", "manifest.json", "page.html",
                    "provenance.json",
                ])
            // It works without a daemon.
            let verified = try await team.martlet(["verify", "got"], url: "/nowhere")
            #expect(verified.status == 0, "\(verified.stderr)")
            expectContains(
                verified.stdout, "kit 1.4.2: 4 files as published, from \(team.record.commit) by \(team.record.id)")
            #expect(try team.left() == [])
            let printed = try await team.martlet(["signers"])
            #expect(printed.stdout == "https://ci.acme.example namespaces=\"file\" \(team.key.publicKey)\n")
        }
    }

    @Test func testThatALargeFileIsFetched() async throws {
        try await withFetchingTeam { team in
            // given: a size above the limit of an API's answer
            let bytes = [UInt8](repeating: 7, count: (16 << 20) + 1)
            try await team.sample.publish("1.5.0", by: team.record, files: ["large.bin": bytes], signedBy: team.key)
            // when
            let fetched = try await team.martlet(["fetch", "kit@1.5.0", "--output", "got"])
            // then
            #expect(fetched.status == 0, "\(fetched.stderr)")
            #expect(try Directory(opening: team.web.directory.path("got")).status("large.bin")?.size == (16 << 20) + 1)
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatAnotherKeyIsRefusedOnceOneIsRemembered() async throws {
        try await withFetchingTeam { team in
            // given
            #expect(try await team.martlet(["fetch", "kit", "--output", "first"]).status == 0)
            let thief = try await team.key("thief")
            try await team.sample.publish("1.4.3", by: team.record, signedBy: thief)
            try await team.sample.publish("1.4.4", by: team.record)
            try team.announce([thief])

            // when
            let other = try await team.martlet(["fetch", "kit@1.4.3", "--output", "second"])
            let line = "\(team.web.socket) namespaces=\"file\" \(thief.publicKey)"
            expectContains(other.stderr, "add to \(team.known) the line: \(line)\n")
            let unsigned = try await team.martlet(["fetch", "kit@1.4.4", "--output", "third"])

            // then
            #expect(other.status == 77)
            expectContains(
                other.stderr, "signed by \(thief.publicKey.fingerprint), which is not among the remembered keys")
            #expect(unsigned.status == 77)
            expectContains(
                unsigned.stderr, "kit 1.4.4 is complete, but not signed; if you know where it is from, write --unsigned"
            )
            for name in ["second", "third"] { expectNoFile(team.web.directory.path(name)) }
            #expect(try team.left() == [])
            #expect(try await team.martlet(["fetch", "kit@1.4.4", "--output", "third", "--unsigned"]).status == 0)
            // A user who knows the new key accepts it.
            try team.web.directory.write("allowed", "ci \(thief.publicKey)\n")
            let allowed = try await team.martlet(["fetch", "kit@1.4.3", "--output", "second", "--signers", "allowed"])
            #expect(allowed.status == 0, "\(allowed.stderr)")
            // Or adds only that line, which the message contains.
            let known = try String(decoding: WholeFile.read(team.known, limit: 1 << 20), as: UTF8.self)
            try AtomicFile.write(Array(("# mine\n" + known + line).utf8), to: team.known)
            let added = try await team.martlet(["fetch", "kit@1.4.3", "--output", "fourth"])
            #expect(added.status == 0, "\(added.stderr)")
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatAnOlderVersionIsNotTakenForTheOneThatWasAsked() async throws {
        try await withFetchingTeam { team in
            // given: a server that was broken into returns 1.4.2 for everything, with all its genuine files
            try await team.sample.publish("1.5.0", by: team.record, signedBy: team.key)
            try await LyingServer.running(in: team.web, instead: ["1.5.0": "1.4.2", "~1.5": "1.4.2"]) { url in
                // when, then
                for asked in ["1.5.0", "~1.5"] {
                    let fetched = try await team.martlet(["fetch", "kit@\(asked)", "--output", "got"], url: url)
                    #expect(fetched.status == 1, "\(fetched.stdout)")
                    expectContains(
                        fetched.stderr,
                        "answered the request for kit@\(asked) with 1.4.2, which does not match; nothing was fetched")
                    expectNoFile(team.web.directory.path("got"))
                }
                let right = try await team.martlet(["fetch", "kit@~1.4", "--output", "got"], url: url)
                #expect(right.status == 0, "\(right.stderr)")
            }
        }
    }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatOneServicesKeyVouchesForNoOther() async throws {
        try await withFetchingTeam { team in
            // given: a version that states ci.acme.example as its maker, and remembered keys of it and of another service
            #expect(try await team.martlet(["fetch", "kit", "--output", "got"]).status == 0)
            let line = "namespaces=\"file\" \(team.key.publicKey)\n"
            func verified(_ principals: String, as name: String? = nil) async throws -> ProgramResult {
                try team.web.directory.write("home/martlet/known_signers", "\(principals) \(line)")
                return try await team.martlet(["verify", "got"] + (name.map { ["--as", $0] } ?? []), url: "/nowhere")
            }

            // when, then
            let evil = try await verified("https://evil.example")
            #expect(evil.status == 77)
            expectContains(
                evil.stderr, "signed by https://evil.example, and it says that https://ci.acme.example made it")
            #expect(try await verified("https://evil.example", as: "https://evil.example").status == 0)
            #expect(try await verified("https://ci.acme.example").status == 0)
            #expect(try await verified("a,https://*.acme.example").status == 0)
            #expect(try await verified("acme").status == 0)
            let other = try await verified("acme", as: "https://ci.acme.example")
            #expect(other.status == 77)
            expectContains(other.stderr, "signed by acme, not by https://ci.acme.example")
            // A key under two names belongs to both.
            let both = try await verified("https://evil.example \(line)https://ci.acme.example")
            #expect(both.status == 0, "\(both.stderr)")
            expectContains(both.stdout, "signed by https://ci.acme.example")
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatRememberingKeepsWhatPeopleWroteAndNoLineIsLost() async throws {
        try await withFetchingTeam { team in
            // given: a comment, another kind of key, a quoted name, and no newline at the end
            let written = "# mine\nold ssh-rsa AAAAB3NzaC1yc2E=\n\"Acme CI\" \(try await team.key("acme").publicKey)"
            try team.web.directory.write("home/martlet/known_signers", written)

            // when: two first fetches at once
            async let one = team.martlet(["fetch", "kit", "--output", "one"])
            async let two = team.martlet(["fetch", "kit", "--output", "two"], url: "http://127.0.0.1:\(team.web.port)")
            let results = try await [one, two]

            // then
            for result in results { #expect(result.status == 0, "\(result.stderr)") }
            let text = try String(decoding: WholeFile.read(team.known, limit: 1 << 20), as: UTF8.self)
            #expect(text.hasPrefix(written + "\n"))
            #expect(text.contains("\n\(team.web.socket),"))
            #expect(text.contains("\n\("http://127.0.0.1:\(team.web.port)") "))
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatAServiceWhoseKeysWereTakenOutIsNotOneWithoutAKey() async throws {
        try await withFetchingTeam { team in
            // given
            try team.announce([])
            try await team.sample.publish("1.4.4", by: team.record)

            // when
            let fetched = try await team.martlet(["fetch", "kit@1.4.4", "--output", "got"])

            // then
            #expect(fetched.status == 77)
            expectNoFile(team.web.directory.path("got"))
        }
    }

    @Test func testThatAServersTextIsNoCommandForATerminal() async throws {
        try await withFetchingTeam { team in
            // given
            try team.web.directory.write(
                "state/files/ALLOWED_SIGNERS", "# \u{1B}[2J\nci \u{1B}[1A=x \(team.key.publicKey)\n")

            // when
            let printed = try await team.martlet(["signers"])
            let fetched = try await team.martlet(["fetch", "kit", "--output", "got"])

            // then
            #expect(printed.status == 0)
            #expect(fetched.status == 70)
            for text in [printed.stdout, fetched.stderr] {
                #expect(!text.contains("\u{1B}") && text.contains("\u{FFFD}"))
            }
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"), arguments: ["INT", "TERM"])
    func testThatASignalLeavesNothing(signal: String) async throws {
        try await withFetchingTeam { team in
            // given: a server that sends only the beginning of a file
            try await LyingServer.running(in: team.web, manners: ["page.html": .heldBack]) { url in
                // when
                let martlet = try TestTools.builtProduct("martlet")
                let ended = try await run(
                    [
                        "sh", "-c",
                        "(until [ -e held ]; do kill -0 $$ || exit; done; kill -\(signal) $$) & "
                            + "exec \(martlet) fetch kit --output got",
                    ], in: team.web.directory.path,
                    environment: ["XDG_CONFIG_HOME": team.home, "PATH": "/usr/bin:/bin", "MARTLET_URL": url])

                // then
                #expect(ended.status == (signal == "INT" ? 130 : 143), "\(ended.stderr)")
                #expect(try team.left() == [])
                expectNoFile(team.web.directory.path("got"))
            }
        }
    }

    /// On the way, where only the command can notice it, or on the server's disk, where the server notices it itself.
    @Test(
        .proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"),
        arguments: ["page.html", "SHA256SUMS", "SHA256SUMS.sig", "manifest.json", "provenance.json"], [false, true])
    func testR4ThatWhatWasChangedOnTheServerIsNeverKept(name: String, isOnDisk: Bool) async throws {
        try await withFetchingTeam { team in
            // given: one flipped bit in what the server sends
            let place = team.web.directory.path("state/files/kit/1.4.2/\(name)")
            if isOnDisk {
                var bytes = try WholeFile.read(place, limit: 1 << 20)
                bytes[bytes.count / 2] ^= 1
                try AtomicFile.write(bytes, to: place)
                team.web.log.expectErrors(containing: "damaged")
            }
            try await LyingServer.running(in: team.web, manners: isOnDisk ? [:] : [name: .flipped]) { url in
                // when
                let fetched = try await team.martlet(["fetch", "kit", "--output", "got"], url: url)

                // then
                #expect(fetched.status == (isOnDisk ? 70 : 1), "\(fetched.stderr)")
                expectNoFile(team.web.directory.path("got"))
                #expect(try team.left() == [])
            }
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatPartsAreCheckedAndPutBesideOtherFiles() async throws {
        try await withFetchingTeam { team in
            // given
            try team.web.directory.write("here/mine", "x")

            // when
            let one = try await team.martlet(["fetch", "kit@1.4.2", "page.html", "--output", "here"])
            let again = try await team.martlet(["fetch", "kit@1.4.2", "page.html", "--output", "here"])
            let none = try await team.martlet(["fetch", "kit@1.4.2", "no.html", "--output", "here"])

            // then
            #expect(one.status == 0, "\(one.stderr)")
            #expect(one.stdout == "\(Digest.sha256(of: Array("<p>".utf8)))  page.html\n")
            #expect(again.status == 73)
            expectContains(again.stderr, "here/page.html exists, and is not overwritten; remove it")
            #expect(none.status == 66)
            let twice = try await team.martlet(
                ["fetch", "kit@1.4.2", "page.html", "page.html", "--output", "there"])
            #expect(twice.status == 64)
            // A dangling link exists.
            try team.web.directory.makeDirectory("links")
            try FileManager.default.createSymbolicLink(
                atPath: team.web.directory.path("links/page.html"), withDestinationPath: "nowhere")
            #expect(
                try await team.martlet(["fetch", "kit@1.4.2", "page.html", "--output", "links"]).status == 73)
            #expect(try Directory(opening: team.web.directory.path("links")).entries().count == 1)
            #expect(try Directory(opening: team.web.directory.path("here")).status("page.html")?.mode == 0o644)
            let names = try Directory(opening: team.web.directory.path("here")).entries().map(\.name)
            #expect(names == ["mine", "page.html"])
        }
    }

    @Test(.proves(.releases, "Versions: `martlet verify DIRECTORY` checks all of it without a network"))
    func testThatVerifySaysWhatIsWrongByItsExitStatus() async throws {
        try await withFetchingTeam { team in
            // given
            #expect(try await team.martlet(["fetch", "kit", "--output", "got"]).status == 0)
            try team.web.directory.write("allowed", team.line)
            try team.web.directory.write("others", "ci \(try await team.key("other").publicKey)\n")
            try team.web.directory.write("broken", "ci\n")
            try team.web.directory.makeDirectory("empty")

            // when, then
            for (arguments, status, words) in [
                (["verify", "got"], 0, "signed by"), (["verify", "got", "--signers", "allowed"], 0, "signed by ci"),
                (["verify", "got", "--signers", "others"], 77, "which is not among others"),
                (["verify", "got", "--signers", "broken"], 64, "line 1"),
                (["verify", "got", "--signers", "none"], 66, "cannot be read"),
                (["verify", "empty"], 66, "there is no SHA256SUMS"),
                (["verify", "nowhere"], 66, "nowhere"),
            ] as [([String], Int32, String)] {
                let result = try await team.martlet(arguments, url: "/nowhere")
                #expect(result.status == status, "\(arguments): \(result.stderr)")
                expectContains(result.stdout + result.stderr, words)
            }
            try team.web.directory.write("got/extra", "x")
            let extra = try await team.martlet(["verify", "got"])
            #expect(extra.status == 1)
            expectContains(extra.stderr, "extra: not in SHA256SUMS\ngot is not what was published")
            // A service that never had a key.
            try FileManager.default.removeItem(atPath: team.web.directory.path("state/files/ALLOWED_SIGNERS"))
            let signers = try await team.martlet(["signers"])
            #expect(signers.status == 66)
            expectContains(signers.stderr, "signs nothing")
        }
    }

    @Test(.proves(.releases, "Versions: `martlet fetch kit@~1.4` checks all of it"))
    func testThatAServiceWithoutAKeyIsTakenAtItsSums() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()

            // when
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "fetch", "kit", "--output", "got"], in: web.directory.path,
                environment: ["XDG_CONFIG_HOME": web.directory.path("home"), "MARTLET_URL": web.socket])

            // then
            #expect(result.status == 0, "\(result.stderr)")
            expectContains(result.stderr, "not signed")
            expectNoFile(web.directory.path("home/martlet/known_signers"))
        }
    }
}
