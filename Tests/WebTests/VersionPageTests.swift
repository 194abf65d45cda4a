import Basics
import Foundation
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct VersionPageTests {
    /// Runs a test with 1.0.0, the yanked 1.1.0 and 1.2.0-beta.1, of the package Acme.Kit, with a binary target.
    static func withVersions(
        url: String = "http://ci.example", _ body: @Sendable (WebFixture, SampleContent) async throws -> Void
    ) async throws {
        try await withWeb(url: url) { web in
            let sample = SampleContent(web: web)
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let record = try await sample.integrate(2, ref: "release/1.0", failing: [], warnings: 0, before: nil)
            for version in ["1.0.0", "1.1.0", "1.2.0-beta.1"] {
                try await sample.publish(
                    version, by: record,
                    files: [
                        "kit-\(version)-source.tar.gz": Array("source".utf8), "Kit-\(version).zip": Array("zip".utf8),
                        "Package.swift": Array("// swift-tools-version:6.0\n".utf8),
                        "kit-\(version)-tool.artifactbundle.zip": Array("bundle".utf8),
                    ], registry: PackageIdentifier("Acme.Kit"))
            }
            try await web.store.yank(
                product: SampleContent.kit, version: SemanticVersion(1, 1, 0), at: WebFixture.now)
            try await body(web, sample)
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: Binary products are `.artifactbundle`s with checksum and `binaryTarget` lines to paste: executables, a C library, the build's own bundles"
        ),
        .proves(
            .releases,
            "Registry: A version's page: how to depend on it, files, digests, its integration; no script, no inline style"
        ))
    func testThatItSaysHowToDependOnIt() async throws {
        try await Self.withVersions { web, _ in
            // when
            let page = try await web.send("GET", "/products/kit/1.0.0").text
            // then
            for text in [
                "swift package-registry set --allow-insecure-http --scope Acme http://ci.example/registry",
                ".package(id: &quot;Acme.Kit&quot;, from: &quot;1.0.0&quot;)",
                "curl -fO http://ci.example/files/kit/1.0.0/",
                "martlet fetch --server http://ci.example kit@~1.0", "name: &quot;tool&quot;",
                "url: &quot;http://ci.example/files/kit/1.0.0/kit-1.0.0-tool.artifactbundle.zip&quot;",
                "checksum: &quot;\(Digest.sha256(of: Array("bundle".utf8)))&quot;",
            ] {
                expectContains(page, text)
            }
            #expect(!page.contains("yanked"))
            expectContains(page, "<span class=\"tag good\">latest</span>")
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A version's page: how to depend on it, files, digests, its integration; no script, no inline style"
        ))
    func testThatItShowsFilesDigestsAndWhatMadeIt() async throws {
        try await Self.withVersions { web, _ in
            // when
            let page = try await web.send("GET", "/products/kit/1.0.0").text
            // then
            expectContains(page, "<a href=\"/files/kit/1.0.0/kit-1.0.0-source.tar.gz\">kit-1.0.0-source.tar.gz</a>")
            expectContains(page, Digest.sha256(of: Array("source".utf8)))
            expectContains(page, "<a href=\"/files/kit/1.0.0/manifest.json\">manifest.json</a>")
            expectContains(page, "<a href=\"/bots/kit/1\">kit#1</a>")
            expectContains(page, String(repeating: "3", count: 40))
            expectContains(page, "release/1.0")
            expectContains(page, "not signed")
            expectContains(page, "href=\"/products/kit/feed.atom\"")
            expectContains(try await web.send("GET", "/products/kit").text, "<a href=\"/products/kit/1.0.0\">1.0.0</a>")
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A version's page: whether the signature fits and whose key it is; which service made it, of how many inputs"
        ))
    func testThatTheSignatureIsJudgedAndProvenanceSummedUp() async throws {
        try await Self.withVersions { web, sample in
            // given
            let key = try await Self.key(in: web, "key")
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await sample.publish("1.0.1", by: record, signedBy: key)
            // when
            let unknown = try await web.send("GET", "/products/kit/1.0.1").text
            let signer = AllowedSigners.Signer(principal: "http://ci.example", key: key.publicKey)
            try web.directory.write("state/files/ALLOWED_SIGNERS", signer.line + "\n")
            let known = try await web.send("GET", "/products/kit/1.0.1").text
            try web.directory.write("state/files/kit/1.0.1/SHA256SUMS", "changed")
            let wrong = try await web.send("GET", "/products/kit/1.0.1").text
            // then
            let fingerprint = key.publicKey.fingerprint
            let link = "<span><a href=\"/files/kit/1.0.1/SHA256SUMS.sig\">SHA256SUMS.sig</a> "
            expectContains(
                unknown, link + "fits SHA256SUMS; by \(fingerprint), which ALLOWED_SIGNERS does not have</span>")
            expectContains(known, link + "fits SHA256SUMS; by http://ci.example, \(fingerprint)</span>")
            expectContains(wrong, link + "<span class=\"tag bad\">wrong</span> does not fit SHA256SUMS")
            expectContains(
                known,
                "<span><a href=\"/files/kit/1.0.1/provenance.json\">provenance.json</a> by https://ci.acme.example, of 1 input</span>"
            )
            #expect(!known.contains("not signed"))
            expectContains(known, "curl -fsSO http://ci.example/files/ALLOWED_SIGNERS")
            expectContains(
                known,
                "ssh-keygen -Y verify -f ALLOWED_SIGNERS -I http://ci.example -n file -s SHA256SUMS.sig &lt; SHA256SUMS"
            )
            expectContains(known, "<a href=\"/files/kit/1.0.1/\">directory</a>")
            let other = try await web.send("GET", "/products/kit/1.1.0").text
            #expect(!other.contains("ssh-keygen"), "it has no signature")
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A version's page: whether the signature fits and whose key it is; which service made it, of how many inputs"
        ))
    func testThatWhatIsNoSignatureAndNoProvenanceIsSaid() async throws {
        try await Self.withVersions { web, _ in
            for name in ["SHA256SUMS.sig", "provenance.json"] {
                try web.directory.write("state/files/kit/1.0.0/\(name)", "x")
            }
            let page = try await web.send("GET", "/products/kit/1.0.0").text
            expectContains(page, "<span class=\"tag bad\">wrong</span> does not fit SHA256SUMS")
            expectContains(page, "provenance.json</a> cannot be read</span>")
            expectContains(page, "provenance.json</a></th><td class=\"num\">1 B</td>")
        }
    }

    /// Makes a key with the real `ssh-keygen`.
    private static func key(in web: WebFixture, _ name: String) async throws -> SigningKey {
        try await runExpectingSuccess(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", web.directory.path(name)])
        return try SigningKey(openSSH: web.directory.text(name))
    }

    /// Pasted commands work for any name and version. `curl -O` keeps a name encoded, and a range means a later version once there is one.
    @Test(
        .proves(
            .releases,
            "Registry: A version's page: what is pasted is that version under its own name, with a token where it takes one"
        ))
    func testThatWhatIsPastedIsThatVersionUnderItsName() async throws {
        try await Self.withVersions { web, sample in
            // given
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await sample.publish(
                "1.0.1+x", by: record, files: ["it's kit-1.0.1+x.tar.gz": Array("source".utf8)])
            // when
            let newest = try await web.send("GET", "/products/kit/1.0.1%2Bx").text
            let product = try await web.send("GET", "/products/kit").text
            let older = try await web.send("GET", "/products/kit/1.0.0").text
            // then
            for page in [newest, product] {
                expectContains(
                    page,
                    "curl -fo &#39;it&#39;\\&#39;&#39;s kit-1.0.1+x.tar.gz&#39; "
                        + "http://ci.example/files/kit/1.0.1%2Bx/it%27s%20kit-1.0.1%2Bx.tar.gz")
                expectContains(page, "martlet fetch --server http://ci.example kit@~1.0")
            }
            expectContains(older, "martlet fetch --server http://ci.example kit@1.0.0")
            // when: it is yanked, the older one is the highest again, and this one must be named
            try await web.store.yank(
                product: SampleContent.kit, version: try #require(SemanticVersion("1.0.1+x")), at: WebFixture.now)
            let yanked = try await web.send("GET", "/products/kit/1.0.1%2Bx").text
            // then
            expectContains(yanked, "kit@1.0.1+x")
            expectContains(try await web.send("GET", "/products/kit/1.0.0").text, "kit@~1.0")
            #expect(!(try await web.send("GET", "/products/kit/1.1.0").text.contains(".binaryTarget")), "it is yanked")
        }
    }

    /// A page that needs a token states so, with the address at which SwiftPM logs in.
    @Test(
        .proves(
            .releases,
            "Registry: A version's page: what is pasted is that version under its own name, with a token where it takes one"
        ), arguments: ["http", "https"])
    func testThatAClosedProductsPageSaysWhereTheTokenGoes(
        scheme: String
    ) async throws {
        let url = "\(scheme)://ci.example"
        try await Self.withVersions(url: url) { web, _ in
            // given
            let open = try await web.send("GET", "/products/kit/1.0.0").text
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository, isPublic: false)],
                at: WebFixture.now)
            // when
            let closed = try await web.send("GET", "/products/kit/1.0.0", as: .viewer).text
            // then
            #expect(!open.contains("MARTLET_TOKEN") && !open.contains("package-registry login"))
            #expect(!open.contains("netrc"))
            expectContains(closed, "It sends the token of ~/.netrc: machine ci.example login martlet password mt_…")
            expectContains(closed, "export MARTLET_TOKEN=mt_…")
            expectContains(
                closed, "curl -fO -H &quot;Authorization: Bearer $MARTLET_TOKEN&quot; \(url)/files/kit/1.0.0/")
            if scheme == "https" {
                expectContains(
                    closed, "swift package-registry login https://ci.example/registry/login --token mt_…")
            } else {
                expectContains(closed, "It takes a token, and SwiftPM sends one over https alone.")
            }
        }
    }

    @Test func testThatAYankedVersionSaysSo() async throws {
        try await Self.withVersions { web, _ in
            let page = try await web.send("GET", "/products/kit/1.1.0").text
            expectContains(page, "<span class=\"tag warn\">yanked</span>")
            expectContains(
                page, "leave it out, and SwiftPM resolves it only where <code>Package.resolved</code> names it")
            expectContains(page, "Take <a href=\"/products/kit/1.0.0\">1.0.0</a> instead.")
            expectContains(page, "martlet fetch --server http://ci.example kit@1.1.0")
            #expect(!page.contains(".package(id:"), "nobody could resolve it")
            let beta = try await web.send("GET", "/products/kit/1.2.0-beta.1").text
            expectContains(beta, "<span class=\"tag\">pre-release</span>")
            expectContains(beta, "exact: &quot;1.2.0-beta.1&quot;")
        }
    }

    @Test(
        .proves(.releases, "Registry: A version's page: what changed since the version before, as its manifest has it"))
    func testThatItListsWhatChanged() async throws {
        try await Self.withVersions { web, _ in
            // given
            let commits = SampleContent.commits.map {
                VersionChanges.Commit(id: $0, subject: "Say <b>what</b> changed", author: "Ada Okafor")
            }
            let manifest = VersionManifest(
                product: SampleContent.kit, version: SemanticVersion(1, 0, 0),
                integration: IntegrationID(bot: SampleContent.kit, number: 1), commit: SampleContent.commits[2],
                tree: String(repeating: "e", count: 40), ref: RefName(branch: "release/1.0"),
                publishedAt: WebFixture.now, files: [], isolation: "sandbox",
                changes: VersionChanges(since: SemanticVersion(0, 9, 0), commits: commits, isCut: true))
            try web.directory.write(
                "state/files/kit/1.0.0/manifest.json", Array(try JSONEncoder().encode(manifest)))
            // when
            let page = try await web.send("GET", "/products/kit/1.0.0").text
            // then
            expectContains(page, "Changes since <a href=\"/products/kit/0.9.0\">0.9.0</a>")
            expectContains(page, "the newest 3 commits")
            expectContains(page, "Say &lt;b&gt;what&lt;/b&gt; changed")
            expectContains(page, "<code title=\"\(SampleContent.commits[0])\">111111111111</code>")
            expectContains(page, "<span>sandbox</span>")
            expectContains(page, String(repeating: "e", count: 40))
        }
    }

    @Test(
        .proves(
            .releases,
            "Registry: A version's page: how to depend on it, files, digests, its integration; no script, no inline style"
        ))
    func testThatARangeLeadsToItsVersion() async throws {
        try await Self.withVersions { web, _ in
            for (range, version) in [("latest", "1.0.0"), ("latest-pre", "1.2.0-beta.1"), ("~1.0", "1.0.0")] {
                #expect(try await web.send("GET", "/products/kit/\(range)")["Location"] == "/products/kit/\(version)")
            }
            for path in ["/products/kit/~1.1", "/products/kit/9.9.9", "/products/kit/x", "/products/nothing/1.0.0"] {
                try await web.expect(404, "GET", path)
            }
        }
    }

    /// X5, and without a script: nothing is inline or from another site.
    @Test(
        .proves(
            .releases,
            "Registry: A version's page: how to depend on it, files, digests, its integration; no script, no inline style"
        ))
    func testX5ThatItNeedsNoScriptAndNoInlineStyle() async throws {
        try await Self.withVersions { web, _ in
            let answer = try await web.send("GET", "/products/kit/1.0.0")
            #expect(answer["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(!answer.text.contains("style="))
            #expect(!answer.text.contains("<style"))
            #expect(!answer.text.contains("onclick"))
            #expect(answer.body.count < 64 << 10)
        }
    }
}
