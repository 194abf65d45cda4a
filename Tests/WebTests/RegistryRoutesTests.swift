import Basics
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The endpoints of SwiftPM's "Swift Package Registry Service Specification"; numbers are its sections.
@Suite struct RegistryRoutesTests {
    static let json = [("Accept", "application/vnd.swift.registry.v1+json")]
    static let base = "http://ci.example/registry/Acme/Kit"
    static let manifests: [String: [UInt8]] = [
        "Package.swift": Array("// swift-tools-version:6.0\n".utf8),
        "Package@swift-5.9.swift": Array("// swift-tools-version:5.9\n".utf8),
        "Package@swift-6.swift": Array("// swift-tools-version: 6.1\n".utf8),
    ]

    /// Runs a test with the package Acme.Kit with 1.0.0, 1.4.2, 1.5.0 (yanked) and 2.0.0-beta.1, and the product's 1.3.0, which is not in the
    /// registry.
    static func withPackage(
        anonymousMayRead: Bool = true, _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb(anonymousMayRead: anonymousMayRead) { web in
            let sample = SampleContent(web: web)
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let record = try await sample.integrate(0, ref: "release/1", failing: [], warnings: 0, before: nil)
            for version in ["1.0.0", "1.4.2", "1.5.0", "2.0.0-beta.1"] {
                try await sample.publish(
                    version, by: record,
                    files: manifests.merging(["Kit-\(version).zip": Array("zip of \(version)".utf8)]) { $1 },
                    registry: PackageIdentifier("Acme.Kit"))
            }
            try await sample.publish("1.3.0", by: record)
            try await web.store.yank(
                product: SampleContent.kit, version: SemanticVersion(1, 5, 0), at: WebFixture.now)
            try await body(web)
        }
    }

    @Suite(
        .proves(
            .releases,
            "Registry: `/registry`: releases listed with links, a yanked one with its problem, in any case of letters"))
    struct WhenReleasesAreListed {
        /// 4.1
        @Test(
            .proves(
                .releases,
                "Registry: SwiftPM's own client resolves, builds and tests a consumer, again after a second version, and refuses a changed one; a consumer of a published binary target builds and runs"
            ))
        func testThatEachHasItsPlaceAndAYankedOneItsProblem() async throws {
            try await withPackage { web in
                // when
                let answer = try await web.send("GET", "/registry/Acme/Kit", headers: json)
                // then
                #expect(answer.status == 200)
                #expect(answer["Content-Type"] == "application/json")
                #expect(answer["Content-Version"] == "1")
                #expect(
                    answer.text == """
                        {"releases":{"2.0.0-beta.1":{"url":"\(base)/2.0.0-beta.1"},"1.5.0":{"url":"\(base)/1.5.0",\
                        "problem":{"status":410,"title":"Gone","detail":"this release was yanked: it is not resolved any \
                        more; by its exact version it stays fetchable"}},"1.4.2":{"url":"\(base)/1.4.2"},\
                        "1.0.0":{"url":"\(base)/1.0.0"}}}

                        """)
                #expect(
                    answer["Link"]
                        == "<\(base)/2.0.0-beta.1>; rel=\"latest-version\", <https://git.example/acme/kit.git>; rel=\"canonical\""
                )
            }
        }

        /// 3.6: "package scopes are case-insensitive", names too.
        @Test(arguments: ["/registry/acme/kit", "/registry/ACME/KIT", "/registry/Acme/Kit.json"])
        func testThatCaseAndExtensionMakeNoDifference(path: String) async throws {
            try await withPackage { web in
                let usual = try await web.send("GET", "/registry/Acme/Kit", headers: json)
                #expect(try await web.send("GET", path, headers: json).text == usual.text)
                let head = try await web.send("HEAD", path, headers: json)
                #expect(head.status == 200)
                #expect(head.body.isEmpty)
            }
        }

        /// 3.3
        @Test(arguments: [
            "/registry/acme/nothing", "/registry/-/kit", "/registry/acme/kit/9.9.9", "/registry/acme/kit/1.3.0",
            "/registry/acme/kit/1.4.2.tar", "/registry/acme/kit/~1.4", "/registry/acme/kit/9.9.9.zip",
            "/registry/acme/kit/9.9.9/Package.swift", "/registry/acme", "/registry/acme/kit/1.4.2/Package.resolved",
            "/registry/acme/kit/..%2f..%2fmanifest.json",
        ]) func testThatWhatIsNotThereIsAProblem(path: String) async throws {
            try await withPackage { web in
                let answer = try await web.send("GET", path)
                #expect(answer.status == 404, "\(answer.text)")
                #expect(answer["Content-Type"] == "application/problem+json")
                #expect(answer["Content-Version"] == "1")
                #expect(answer["Content-Language"] == "en")
                #expect(answer.text.contains("\"detail\":"))
            }
        }

        /// 4.6: packages come only from bots.
        @Test func testThatNothingCanBeSent() async throws {
            try await withPackage { web in
                let answer = try await web.send("PUT", "/registry/acme/kit/3.0.0", as: .admin, body: [1, 2, 3])
                #expect(answer.status == 405)
                #expect(answer["Allow"] == "GET, HEAD")
                #expect(answer["Content-Version"] == "1")
            }
        }
    }

    @Suite struct WhenAnAPIVersionIsAskedFor {
        /// 3.5
        @Test(
            .proves(.releases, "Registry: `/registry`: API versions by `Accept` and `Content-Version`"),
            arguments: [
                ("application/vnd.swift.registry.v1+json", 200), ("application/vnd.swift.registry+json", 200),
                ("application/vnd.swift.registry.v1", 200), ("application/vnd.swift.registry", 200), ("*/*", 200),
                ("application/json", 200), ("text/plain, application/vnd.swift.registry.v1+json;q=0.5", 200),
                ("application/vnd.swift.registry.v2+json, application/vnd.swift.registry.v1+json", 200),
                ("application/vnd.swift.registry.v2+json, */*;q=0.1", 200),
                ("application/vnd.swift.registry.v1+zip, application/*", 200),
                ("application/vnd.swift.registry.v2+json, application/json", 415),
                ("application/vnd.swift.registry.v2+json", 415), ("application/vnd.swift.registry.v0+json", 415),
                ("application/vnd.swift.registry.vx+json", 400), ("application/vnd.swift.registry.v+json", 400),
                ("application/vnd.swift.registry1+json", 400), ("application/vnd.swift.registry.v1+xml", 400),
                ("application/vnd.swift.registry.v1+zip", 406),
            ])
        func testThatTheAnswerIsOfThatVersion(accept: String, status: Int) async throws {
            try await withPackage { web in
                for path in ["/registry/acme/kit", "/registry/acme/kit/1.4.2"] {
                    let answer = try await web.send("GET", path, headers: [("Accept", accept)])
                    #expect(answer.status == status, "\(answer.text)")
                    #expect(answer["Content-Version"] == "1")
                }
            }
        }
    }

    @Suite(.proves(.releases, "Registry: `/registry`: identifiers by URL; login; read as the rest of the service is"))
    struct WhenRepositoriesAndTokensCome {
        /// 4.5
        @Test(arguments: [
            ("https%3A%2F%2Fgit.example%2Facme%2Fkit.git", 200), ("https://git.example/acme/kit", 200),
            ("git%40git.example:acme/kit.git", 200), ("ssh://git%40git.example/acme/kit", 200),
            ("https://git.example/acme/Kit", 404), ("https://git.example/acme", 404), ("/etc/passwd", 404),
        ]) func testThatAPackageIsFoundByItsRepository(url: String, status: Int) async throws {
            try await withPackage { web in
                let answer = try await web.send("GET", "/registry/identifiers?url=\(url)", headers: json)
                #expect(answer.status == status, "\(answer.text)")
                if status == 200 { #expect(answer.text == "{\"identifiers\":[\"Acme.Kit\"]}\n") }
                try await web.expect(400, "GET", "/registry/identifiers", headers: json)
            }
        }

        @Test func testThatALoginIsATokenOfOurs() async throws {
            try await withPackage { web in
                try await web.expect(200, "POST", "/registry/login", as: .viewer)
                try await web.expect(401, "POST", "/registry/login")
                try await web.expect(401, "POST", "/registry/login", headers: [("Authorization", "Bearer mt_x")])
                let token = try #require(web.tokens[.viewer]).secret
                let basic = Data("anybody:\(token)".utf8).base64EncodedString()
                try await web.expect(200, "POST", "/registry/login", headers: [("Authorization", "Basic \(basic)")])
                // A change does not accept a browser's password.
                try await web.expect(
                    401, "POST", "/api/v1/products/kit/versions/1.4.2/yank",
                    headers: [("Authorization", "Basic \(basic)")])
            }
        }

        /// As in the rest of the service: with a token if anonymous clients may not read, and then not for shared caches (R3).
        @Test func testThatItIsReadAsTheRestIs() async throws {
            try await withPackage(anonymousMayRead: false) { web in
                for path in [
                    "/registry/acme/kit", "/registry/acme/kit/1.4.2", "/registry/acme/kit/1.4.2.zip",
                    "/registry/acme/kit/1.4.2/Package.swift", "/registry/identifiers?url=x", "/registry/availability",
                    "/products/kit/feed.atom", "/products/kit/feed.json",
                ] {
                    let refused = try await web.send("GET", path)
                    #expect(refused.status == 401, "\(path)")
                    #expect(refused["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
                }
                let archive = try await web.send("GET", "/registry/acme/kit/1.4.2.zip", as: .viewer)
                #expect(archive.status == 200)
                #expect(archive["Cache-Control"] == "private, max-age=31536000, immutable")
            }
        }
    }
}
