import Archives
import Basics
import Foundation
import Model
import Releases
import TestSupport
import Testing

@testable import Web

/// `martlet fetch` from a server that was broken into, or with an attacker in between.
@Suite(.program("ssh-keygen")) struct FetchFromALiarTests {
    /// Expects a fetch into `got` to fail with a message, and to leave no file.
    private func expectRefusal(
        _ team: FetchingTeam, from url: String, _ arguments: [String] = [], status: Int32, _ words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let fetched = try await team.martlet(["fetch", "kit@1.4.2", "--output", "got"] + arguments, url: url)
        #expect(fetched.status == status, "\(fetched.stderr)", sourceLocation: sourceLocation)
        expectContains(fetched.stderr, words, sourceLocation: sourceLocation)
        #expect(fetched.stdout == "", sourceLocation: sourceLocation)
        expectNoFile(team.web.directory.path("got"), sourceLocation: sourceLocation)
        #expect(try team.left() == [], sourceLocation: sourceLocation)
    }

    // MARK: How much, and how long

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ), .program("curl"))
    func testThatASizeThatTheServerMadeUpLetsNoMoreIn() async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(
                in: team.web, rewriting: ["\"size\":3": "\"size\":9000000000000000000"],
                manners: ["page.html": .endless]
            ) { url in
                let answer = try await run(
                    TestTools.curl + ["-f", "\(url)/api/v1/products/kit/versions/1.4.2"])
                expectContains(answer.stdout, "9000000000000000000")
                try await expectRefusal(team, from: url, status: 1, "it is longer than the 3 bytes")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ),
        arguments: [
            ("SHA256SUMS", Checksums.maximumSize), ("SHA256SUMS.sig", SSHSignature.maximumSize),
            ("manifest.json", VersionManifest.maximumSize), ("provenance.json", VersionManifest.maximumSize),
        ])
    func testThatADescriptionHasAnEnd(name: String, limit: Int) async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, manners: [name: .endless]) { url in
                try await expectRefusal(team, from: url, status: 1, "it is longer than the \(limit) bytes")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ))
    func testThatLessThanTheWholeIsNothing() async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, manners: ["page.html": .cut]) { url in
                try await expectRefusal(team, from: url, status: 69, "/page.html failed: ")
            }
            try await LyingServer.running(in: team.web, manners: ["page.html": .short]) { url in
                try await expectRefusal(team, from: url, status: 1, "page.html: differs: ")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ), arguments: ["page.html", "SHA256SUMS"])
    func testThatAServerThatNeverEndsIsLeftAfterTheTime(name: String) async throws {
        try await withFetchingTeam { team in
            // given: a zero from time to time for limits of hours, which is no stall; otherwise a byte and silence
            try await LyingServer.running(
                in: team.web, manners: [name: name == "SHA256SUMS" ? .dripped : .heldBack]
            ) { url in
                try await expectRefusal(
                    team, from: url, ["--time-limit", "3"], status: 69,
                    "the time for the whole download is over; write --time-limit SECONDS")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ), .statedRoom)
    func testThatWhatNobodySignedFillsNoDisk() async throws {
        try await withFetchingTeam { team in
            // given: a service without a key, and a manifest with a false size in otherwise correct files
            try await team.sample.publish("1.4.4", by: team.record)
            try FileManager.default.removeItem(atPath: team.web.directory.path("state/files/ALLOWED_SIGNERS"))
            let place = "state/files/kit/1.4.4/"
            let text = try team.web.directory.text(place + "manifest.json")
            let size = try #require(text.firstRange(of: /"size" ?: ?3/))
            let manifest = text.replacingCharacters(in: size, with: "\"size\": \(Int64.max)")
            try team.web.directory.write(place + "manifest.json", manifest)
            var sums = try #require(Checksums(Array(team.web.directory.text(place + "SHA256SUMS").utf8)))
            sums.digests["manifest.json"] = Digest.sha256(of: Array(manifest.utf8))
            try team.web.directory.write(place + "SHA256SUMS", sums.bytes)

            // when
            let fetched = try await team.martlet(["fetch", "kit@1.4.4", "--output", "got"])

            // then
            #expect(fetched.status == 73)
            expectContains(fetched.stderr, "; make room")
            #expect(try team.left() == [])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch --signers --as`, yanked versions, what a server says instead, outputs and addresses that cannot be"
        ))
    func testThatWhatAServerSaysInsteadOfAFileIsHeard() async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, manners: ["page.html": .refused]) { url in
                try await expectRefusal(team, from: url, status: 66, "It is on the other shelf.")
            }
        }
    }

    // MARK: What

    /// Its sums, signature and provenance fit each other. Only its manifest shows that it is not the requested version.
    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ), arguments: ["/files/kit/1.4.1/", "/files/other/1.4.2/"])
    func testThatTheFilesOfAnotherVersionAreNotTaken(directory: String) async throws {
        try await withFetchingTeam { team in
            // given
            try await team.sample.publish("1.4.1", by: team.record, signedBy: team.key)
            try await team.sample.publish(
                "1.4.2", by: team.record, product: Name(nearest: "other"), signedBy: team.key)
            try await LyingServer.running(in: team.web, insteadInFiles: ["/files/kit/1.4.2/": directory]) { url in
                // when, then
                try await expectRefusal(team, from: url, status: 1, "sent as kit 1.4.2 is another version")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ), arguments: ["../evil", "/etc/evil", "a/b", "..", "manifest.json", "SHA256SUMS", "-evil", ""])
    func testThatNoNameLeadsOutOfTheDirectory(name: String) async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, rewriting: ["\"page.html\"": "\"\(name)\""]) { url in
                try await expectRefusal(
                    team, from: url, status: 70, "\(name), which cannot be the name of a published file")
                expectNoFile(team.web.directory.path("evil"))
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ))
    func testThatAFileIsNotNamedTwice() async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, rewriting: ["\"page.html\"": "\"kit-source.tar.gz\""]) { url in
                try await expectRefusal(team, from: url, status: 70, "lists a file of the version twice")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `fetch` from a server that lies: no name, version, size or time but those of the signed manifest and the person, nothing left"
        ))
    func testThatAFileThatTheManifestHasNotIsNotAskedFor() async throws {
        try await withFetchingTeam { team in
            try await LyingServer.running(in: team.web, rewriting: ["\"page.html\"": "\"other.html\""]) { url in
                try await expectRefusal(
                    team, from: url, status: 1,
                    "lists the file other.html, which the manifest of kit 1.4.2 does not have")
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test, with that reason, if there is always more room: some file systems state more than any disk has.
    static var statedRoom: Self {
        .enabled("the file system here states more room than a size can have") {
            try await withTemporaryDirectory { directory in (FreeSpace(at: directory.path)?.bytes ?? 0) < .max }
        }
    }
}
