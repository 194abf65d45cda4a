import Basics
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// One release of a package: metadata, archive, manifests.
@Suite struct RegistryReleaseTests {
    private static let base = RegistryRoutesTests.base
    private static let json = RegistryRoutesTests.json

    /// 4.2
    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: a release's metadata with checksum and neighbors; a yanked one stays fetchable"))
    func testThatMetadataHasTheArchivesDigestAndTheNeighbors() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // when
            let answer = try await web.send("GET", "/registry/acme/kit/1.4.2", headers: Self.json)
            // then
            let digest = Digest.sha256(of: Array("zip of 1.4.2".utf8))
            let commit = String(repeating: "1", count: 40)
            #expect(answer.status == 200)
            #expect(
                answer.text == """
                    {"id":"Acme.Kit","version":"1.4.2","resources":[{"name":"source-archive","type":"application/zip",\
                    "checksum":"\(digest)"}],"metadata":{"description":"Acme.Kit 1.4.2, made of \(commit) by kit#1",\
                    "repositoryURLs":["https://git.example/acme/kit.git"],\
                    "originalPublicationTime":"2026-03-01T12:00:00Z"},"publishedAt":"2026-03-01T12:00:00Z"}

                    """)
            #expect(
                answer["Link"] == """
                    <\(Self.base)/2.0.0-beta.1>; rel="latest-version", <\(Self.base)/2.0.0-beta.1>; rel="successor-version", \
                    <\(Self.base)/1.0.0>; rel="predecessor-version"
                    """, "the yanked one is no neighbor")
        }
    }

    /// A consumer that has 1.5.0 in its Package.resolved continues to build.
    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: a release's metadata with checksum and neighbors; a yanked one stays fetchable"))
    func testThatAYankedReleaseStaysFetchable() async throws {
        try await RegistryRoutesTests.withPackage { web in
            for path in ["1.5.0", "1.5.0.json", "1.5.0.zip", "1.5.0/Package.swift"] {
                try await web.expect(200, "GET", "/registry/acme/kit/\(path)")
            }
        }
    }

    @Test func testThatALargeArchiveIsSentAsItIs() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given: one that is sent from the disk
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await SampleContent(web: web).publish(
                "3.0.0", by: record, files: RegistryRoutesTests.manifests.merging(["Kit-3.0.0.zip": bytes]) { $1 },
                registry: PackageIdentifier("Acme.Kit"))
            // when
            let answer = try await web.send("GET", "/registry/acme/kit/3.0.0.zip")
            // then
            #expect(answer.status == 200)
            #expect(answer.body == bytes)
        }
    }

    /// 4.4
    @Test(
        .proves(.releases, "Registry: `/registry`: source archive with digest, ranges, conditions, never a damaged one")
    )
    func testThatTheArchiveIsSentWithItsDigest() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // when
            let accept = [("Accept", "application/vnd.swift.registry.v1+zip")]
            let answer = try await web.send("GET", "/registry/acme/kit/1.4.2.zip", headers: accept)
            // then
            #expect(answer.status == 200)
            #expect(answer.text == "zip of 1.4.2")
            #expect(answer["Content-Type"] == "application/zip")
            #expect(answer["Content-Length"] == "12")
            #expect(answer["Content-Disposition"] == "attachment; filename=\"Kit-1.4.2.zip\"")
            #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable")
            #expect(answer["Accept-Ranges"] == "bytes")
            #expect(answer["Content-Version"] == "1")
            // printf 'zip of 1.4.2' | openssl dgst -sha256 -binary | base64
            #expect(answer["Digest"] == "sha-256=t9WNHCKyBDVLpzDEQD2aA4CbLee3Z61ZJYXNsAN4oXE=")
            // when
            let part = try await web.send(
                "GET", "/registry/acme/kit/1.4.2.zip", headers: accept + [("Range", "bytes=7-")])
            // then
            #expect(part.status == 206)
            #expect(part.text == "1.4.2")
            let tag = try #require(answer["ETag"])
            try await web.expect(304, "GET", "/registry/acme/kit/1.4.2.zip", headers: accept + [("If-None-Match", tag)])
        }
    }

    /// R4: an archive that is not as published is not sent.
    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ),
        .proves(.releases, "Registry: `/registry`: source archive with digest, ranges, conditions, never a damaged one")
    )
    func testR4ThatADamagedArchiveIsNotServed() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given: one flipped bit
            try web.directory.write("state/files/kit/1.4.2/Kit-1.4.2.zip", "zip of 1.4.3")
            try web.directory.write("state/files/kit/1.4.2/Package.swift", "// swift-tools-version:6.1\n")
            web.log.expectErrors(containing: "damaged")
            for path in ["1.4.2.zip", "1.4.2/Package.swift"] {
                // when
                let answer = try await web.send("GET", "/registry/acme/kit/\(path)")
                // then
                #expect(answer.status == 500)
                #expect(!answer.text.contains("1.4.3") && !answer.text.contains("6.1"))
                #expect(answer["Cache-Control"] == "no-store")
            }
        }
    }

    /// 4.3
    @Test(.proves(.releases, "Registry: `/registry`: manifests by tools version"))
    func testThatTheManifestNamesThoseForOtherCompilers() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // when
            let answer = try await web.send(
                "GET", "/registry/acme/kit/1.4.2/Package.swift",
                headers: [("Accept", "application/vnd.swift.registry.v1+swift")])
            // then
            #expect(answer.text == "// swift-tools-version:6.0\n")
            #expect(answer["Content-Type"] == "text/x-swift")
            #expect(answer["Content-Disposition"] == "attachment; filename=\"Package.swift\"")
            #expect(answer["Content-Version"] == "1")
            let place = "\(Self.base)/1.4.2/Package.swift?swift-version="
            #expect(
                answer["Link"] == """
                    <\(place)5.9>; rel="alternate"; filename="Package@swift-5.9.swift"; swift-tools-version="5.9", \
                    <\(place)6>; rel="alternate"; filename="Package@swift-6.swift"; swift-tools-version="6.1"
                    """)
        }
    }

    /// 4.3.1; SwiftPM asks with the tools version's numbers, which can be shorter in the name.
    @Test(
        .proves(.releases, "Registry: `/registry`: manifests by tools version"),
        arguments: [
            ("5.9", 200, "Package@swift-5.9.swift"), ("5.9.0", 200, "Package@swift-5.9.swift"),
            ("6", 200, "Package@swift-6.swift"), ("6.0.0", 200, "Package@swift-6.swift"),
            ("6.1.0", 200, "Package@swift-6.swift"), ("6.1", 200, "Package@swift-6.swift"),
            ("5.8", 303, nil),
            ("x", 400, nil), ("5.9%2f..", 400, nil),
        ])
    func testThatAManifestIsChosenByVersion(version: String, status: Int, file: String?) async throws {
        try await RegistryRoutesTests.withPackage { web in
            let answer = try await web.send("GET", "/registry/acme/kit/1.4.2/Package.swift?swift-version=\(version)")
            #expect(answer.status == status)
            if let file {
                #expect(answer["Content-Disposition"] == "attachment; filename=\"\(file)\"")
                #expect(answer.body == RegistryRoutesTests.manifests[file])
            }
            #expect(answer["Location"] == (status == 303 ? "\(Self.base)/1.4.2/Package.swift" : nil))
        }
    }

    /// S8: some users write a token in place of the user name. Such addresses in older versions, from before this was checked, are cut as well.
    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"))
    func testS8ThatATokenInARepositorysAddressIsNotTold() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given
            let address = "https://ghp_secret@git.example/acme/kit.git"
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: address)], at: WebFixture.now)
            let sample = SampleContent(web: web)
            let record = try await sample.integrate(1, ref: "release/1", failing: [], warnings: 0, before: nil)
            try await sample.publish(
                "3.0.0", by: record, registry: PackageIdentifier("Acme.Kit"), repository: address)
            for path in ["/registry/acme/kit", "/registry/acme/kit/3.0.0", "/api/v1/bots", "/"] {
                // when
                let answer = try await web.send("GET", path)
                // then
                #expect(answer.status == 200)
                let text = answer.text + (answer["Link"] ?? "")
                #expect(text.contains("git.example/acme/kit"), "\(path)")
                #expect(!text.contains("ghp_secret"), "\(path)")
            }
        }
    }

    /// A version's repository is that of its time, whatever its bot's repository is today.
    @Test(
        .proves(
            .releases, "Registry: A version stays of the repository that it was made of, wherever its bot looks today"))
    func testThatABotThatMovesTakesNoPackageAlong() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given
            let before = try await web.send("GET", "/registry/acme/kit/1.4.2", headers: Self.json).text
            // when
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: "https://git.example/other.git")],
                at: WebFixture.now)
            // then
            let identifiers = "/registry/identifiers?url=https://git.example/"
            try await web.expect(404, "GET", identifiers + "other.git", headers: Self.json)
            #expect(
                try await web.send("GET", identifiers + "acme/kit.git", headers: Self.json).text
                    == "{\"identifiers\":[\"Acme.Kit\"]}\n")
            #expect(try await web.send("GET", "/registry/acme/kit/1.4.2", headers: Self.json).text == before)
            let list = try await web.send("GET", "/registry/acme/kit", headers: Self.json)
            #expect(list["Link"]?.hasSuffix("<https://git.example/acme/kit.git>; rel=\"canonical\"") == true)
        }
    }
}
