import Archives
import Basics
import Foundation
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

/// Every page of a filled service, followed from link to link.
@Suite(.program("ssh-keygen")) struct PageLinksTests {
    /// Returns the links of a page, in order.
    fileprivate static func links(_ page: String) -> [String] {
        page.matches(of: /(?:href|src)="([^"]*)"/).map { match in
            String(match.1).replacing("&amp;", with: "&").replacing("&#39;", with: "'")
        }
    }

    private func withFilled(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            let sample = SampleContent(web: web)
            try await sample.fill()
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await runExpectingSuccess([
                "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", web.directory.path("key"),
            ])
            let key = try SigningKey(openSSH: web.directory.text("key"))
            try await sample.publish("1.0.1", by: record, signedBy: key)
            let signers = AllowedSigners([.init(principal: "http://ci.example", key: key.publicKey)])
            try web.directory.write("state/files/ALLOWED_SIGNERS", signers.text)
            try await web.store.yank(product: SampleContent.kit, version: SemanticVersion(1, 0, 0), at: WebFixture.now)
            try await body(web)
        }
    }

    /// The addresses that were found, and those that are still to be requested.
    private struct Walk {
        var waiting = ["/", "/outbox"]
        /// Each address, with the page that links it.
        var from: [String: String] = [:]

        /// Adds the links of a page within the service.
        mutating func add(_ page: String, at address: String) {
            for link in PageLinksTests.links(page) {
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let own = "http://ci.example/"
                let target = parts[0].hasPrefix(own) ? "/" + parts[0].dropFirst(own.count) : parts[0]
                if parts.count > 1, target.isEmpty { expectContains(page, "id=\"\(parts[1])\"") }
                guard target.hasPrefix("/"), from[target] == nil else { continue }
                from[target] = address
                waiting.append(target)
            }
        }
    }

    @Test(.proves(.web, "No link of any page is dead"))
    func testThatNoLinkOfAnyPageIsDead() async throws {
        try await withFilled { web in
            var walk = Walk()
            while let address = walk.waiting.popLast() {
                let answer = try await web.send("GET", address, as: .viewer)
                let linking = walk.from[address] ?? "nobody"
                #expect(answer.status < 400, "\(address), which \(linking) links")
                if answer["Content-Type"]?.hasPrefix("text/html") == true { walk.add(answer.text, at: address) }
            }
            let found = Array(walk.from.keys)
            for kind in ["/bots/", "/products/", "/files/", "/api/", "/deliveries", "/outbox", "/style.css"] {
                #expect(found.contains { $0.hasPrefix(kind) }, "no link to \(kind)")
            }
            #expect(found.contains { $0.contains("/artifacts/") } && found.contains { $0.contains("/log/") })
        }
    }

    @Test(.proves(.web, "An integration's page links artifacts, which are served with Range and HEAD"))
    func testThatAnArtifactsLinkGivesItsBytes() async throws {
        try await withFilled { web in
            // given
            let page = try await web.send("GET", "/bots/kit/3").text
            let link = try #require(Self.links(page).first { $0.hasSuffix("-source.tar.gz") })
            let stored = try #require(
                try await web.store.artifacts(of: IntegrationID(bot: SampleContent.kit, number: 3)).first {
                    $0.artifact.configuration == nil
                })
            #expect(link == ArtifactServer.path(of: stored))

            // when
            let whole = try await web.send("GET", link)
            let head = try await web.send("HEAD", link)
            let part = try await web.send("GET", link, headers: [("Range", "bytes=18000-")])

            // then
            #expect(whole.status == 200 && whole.body.count == 18_211)
            #expect(Digest.sha256(of: whole.body) == stored.artifact.sha256)
            #expect(head.status == 200 && head["Content-Length"] == "18211" && head.body.isEmpty)
            #expect(part.status == 206 && part.body == Array(whole.body[18_000...]))
            try await web.expect(200, "GET", link + "?attempt=1")
            try await web.expect(404, "GET", link + "?attempt=2")
        }
    }

    /// A rerun adds an attempt, and the next integration is the latest.
    @Test(
        .proves(.web, "An integration's page links artifacts, which are served with Range and HEAD"),
        arguments: [
            ("3", "", "public, no-cache"), ("latest", "", "public, no-cache"),
            ("latest", "?attempt=1", "public, no-cache"),
            ("3", "?attempt=1", "public, max-age=3600"),
        ])
    func testThatNobodyKeepsAnArtifactUnaskedThatAnotherFollows(
        number: String, query: String, expected: String
    ) async throws {
        try await withFilled { web in
            // given
            let path = "/api/v1/bots/kit/integrations/\(number)/artifacts/release/kit-1.0.0-source.tar.gz" + query
            // when
            let answer = try await web.send("GET", path)
            // then
            #expect(answer.status == 200)
            #expect(answer["Cache-Control"] == expected)
            try await web.expect(304, "GET", path, headers: [("If-None-Match", try #require(answer["ETag"]))])
        }
    }

    @Test(.proves(.web, "An integration's page links artifacts, which are served with Range and HEAD"))
    func testThatAFileThatTheStoreDoesNotListIsNotServed() async throws {
        try await withFilled { web in
            try web.directory.write("state/integrations/kit/3/release/1/archives/other", "x")
            try await web.expect(404, "GET", "/api/v1/bots/kit/integrations/3/artifacts/release/other")
        }
    }
}
