import Glibc
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Unusual requests for a release.
@Suite struct RegistryRequestsTests {
    private static let base = RegistryRoutesTests.base
    private static let kinds = [("1.4.2", "json"), ("1.4.2.zip", "zip"), ("1.4.2/Package.swift", "swift")]

    /// 3.5: each endpoint has one content type.
    @Test(
        .proves(.releases, "Registry: `/registry`: API versions by `Accept` and `Content-Version`"), arguments: kinds,
        ["json", "zip", "swift"])
    func testThatAnotherKindIsRefused(
        endpoint: (path: String, kind: String), asked: String
    ) async throws {
        try await RegistryRoutesTests.withPackage { web in
            let answer = try await web.send(
                "GET", "/registry/acme/kit/\(endpoint.path)",
                headers: [("Accept", "application/vnd.swift.registry.v1+\(asked)")])
            #expect(answer.status == (asked == endpoint.kind ? 200 : 406), "\(answer.text)")
            #expect(answer["Content-Version"] == "1")
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: a release's metadata with checksum and neighbors; a yanked one stays fetchable"),
        arguments: kinds)
    func testThatHEADSaysTheSameWithoutTheBody(path: String, kind: String) async throws {
        try await RegistryRoutesTests.withPackage { web in
            let headers = [("Accept", "application/vnd.swift.registry.v1+\(kind)")]
            let get = try await web.send("GET", "/registry/acme/kit/\(path)", headers: headers)
            let head = try await web.send("HEAD", "/registry/acme/kit/\(path)", headers: headers)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            for name in ["Content-Length", "Content-Type", "Content-Version", "Link", "Digest", "ETag"] {
                #expect(head[name] == get[name], "\(name)")
            }
            #expect(get["Content-Length"] == String(get.body.count))
        }
    }

    /// A client that has the manifest gets the links to those for other compilers nevertheless.
    @Test(.proves(.releases, "Registry: `/registry`: manifests by tools version"))
    func testThatAManifestThatIsThereKeepsItsLinks() async throws {
        try await RegistryRoutesTests.withPackage { web in
            let path = "/registry/acme/kit/1.4.2/Package.swift"
            let first = try await web.send("GET", path)
            let again = try await web.send("GET", path, headers: [("If-None-Match", try #require(first["ETag"]))])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again["Link"] == first["Link"])
            #expect(first["Link"]?.contains("alternate") == true)
        }
    }

    /// `+` is literal in a path, and `%2B` in the paths that we write.
    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: a release's metadata with checksum and neighbors; a yanked one stays fetchable"))
    func testThatBuildMetadataIsPartOfTheName() async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await SampleContent(web: web).publish(
                "3.0.0+build.7", by: record,
                files: RegistryRoutesTests.manifests.merging(["Kit-3.0.0+build.7.zip": Array("zip".utf8)]) { $1 },
                registry: PackageIdentifier("Acme.Kit"))
            // then
            for version in ["3.0.0+build.7", "3.0.0%2Bbuild.7"] {
                for ending in ["", ".json", ".zip", "/Package.swift"] {
                    try await web.expect(200, "GET", "/registry/acme/kit/\(version)\(ending)")
                }
            }
            let place = "\(Self.base)/3.0.0%2Bbuild.7"
            let list = try await web.send("GET", "/registry/acme/kit")
            #expect(list["Link"]?.hasPrefix("<\(place)>; rel=\"latest-version\"") == true)
            #expect(list.text.contains("\"3.0.0+build.7\":{\"url\":\"\(place)\"}"))
            let manifest = try await web.send("GET", "/registry/acme/kit/3.0.0+build.7/Package.swift")
            #expect(manifest["Link"]?.hasPrefix("<\(place)/Package.swift?swift-version=5.9>") == true)
            try await web.expect(404, "GET", "/registry/acme/kit/3.0.0")
        }
    }

    /// A valid version can end like a file name.
    @Test(
        .proves(
            .releases,
            "Registry: `/registry`: a release's metadata with checksum and neighbors; a yanked one stays fetchable"),
        arguments: ["zip", "json"])
    func testThatAVersionMayEndLikeAFile(ending: String) async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            let sample = SampleContent(web: web)
            for version in ["3.0.0-rc", "3.0.0-rc.\(ending)"] {
                try await sample.publish(
                    version, by: record, files: ["Kit-\(version).zip": Array(version.utf8)],
                    registry: PackageIdentifier("Acme.Kit"))
            }
            let path = "/registry/acme/kit/3.0.0-rc.\(ending)"
            // when
            let metadata = try await web.send("GET", path, headers: RegistryRoutesTests.json)
            let archive = try await web.send("GET", path + ".zip")
            // then
            #expect(metadata.text.contains("\"version\":\"3.0.0-rc.\(ending)\""), "\(metadata.text)")
            #expect(archive.text == "3.0.0-rc.\(ending)")
            let other = try await web.send(
                "GET", "/registry/acme/kit/3.0.0-rc.zip",
                headers: [("Accept", "application/vnd.swift.registry.v1+zip")])
            #expect(other.text == "3.0.0-rc")
        }
    }

    /// A damaged or missing manifest for another compiler is neither offered nor affects the usual one.
    @Test(.proves(.releases, "Registry: `/registry`: manifests by tools version"), arguments: [false, true])
    func testThatADamagedManifestIsLeftOut(isMissing: Bool) async throws {
        try await RegistryRoutesTests.withPackage { web in
            // given
            web.log.expectErrors(containing: "damaged")
            let place = "state/files/kit/1.4.2/Package@swift-5.9.swift"
            let whole = try await web.send("GET", "/registry/acme/kit/1.4.2/Package.swift")
            #expect(whole["Cache-Control"] == "public, max-age=31536000, immutable")
            try web.directory.write(place, "// swift-tools-version:5.7\n")
            if isMissing { #expect(unlink(web.directory.path(place)) == 0) }
            // when
            let answer = try await web.send("GET", "/registry/acme/kit/1.4.2/Package.swift")
            // then
            #expect(answer.status == 200)
            #expect(answer["Link"]?.contains("5.9") == false)
            #expect(answer["Link"]?.contains("Package@swift-6.swift") == true)
            #expect(answer["Cache-Control"] == "no-store", "it is there again when it is restored")
            expectContains(try await web.send("GET", "/products/kit/1.4.2").text, "Package@swift-5.9.swift is damaged")
        }
    }
}
