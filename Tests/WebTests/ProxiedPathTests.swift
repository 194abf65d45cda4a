import Basics
import Foundation
import Glibc
import Integrations
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The service beneath a path, behind nginx with `deploy/nginx.conf`.
@Suite(
    .proves(
        .intake,
        "`url` may have a path: pages, API, feeds, registry, redirects and event streams beneath it lead to each other behind `deploy/nginx.conf`"
    ), .program("nginx"), .program("curl"), .timeLimit(TestLimits.minutes(2)))
struct ProxiedPathTests {
    private static let root = "https://ci.example.com/ci"

    /// The service as its clients see it: with TLS, at its own name.
    private struct Proxied: Sendable {
        let web: WebFixture
        let port: Int
        let authority: String

        var curl: [String] {
            TestTools.curl + ["--cacert", authority, "--resolve", "ci.example.com:\(port):127.0.0.1"]
        }

        /// Returns the address of a path, or of a link of the service.
        func address(_ path: String) -> String {
            let path = path.hasPrefix("https://ci.example.com/") ? String(path.dropFirst(22)) : path
            return "https://ci.example.com:\(port)\(path)"
        }

        func get(_ path: String, _ arguments: [String] = []) async throws -> RawAnswer {
            let result = try await run(curl + ["-i", "--http1.1"] + arguments + [address(path)])
            #expect(result.status == 0, "\(path): \(result.stderr)")
            return try RawAnswer.parse(result.standardOutput, isHead: false)
        }
    }

    /// Returns `deploy/nginx.conf`, changed as its comments and the documentation say for a path, on free ports.
    private static func configuration(_ web: WebFixture, port: Int, _ issued: CertificateAuthority.Issued) throws
        -> String
    {
        var text = try String(contentsOfFile: Project.root + "/deploy/nginx.conf", encoding: .utf8)
        for (sample, used) in [
            ("listen 443 ssl http2;", "listen 127.0.0.1:\(port) ssl http2;"),
            ("listen [::]:443 ssl http2;", ""),
            ("/etc/letsencrypt/live/ci.example.com/fullchain.pem", issued.certificate),
            ("/etc/letsencrypt/live/ci.example.com/privkey.pem", issued.key),
            ("location / {", "location /ci/ {"),
            ("proxy_pass http://127.0.0.1:8080;", "proxy_pass http://127.0.0.1:\(web.port)/;"),
        ] {
            try #require(text.contains(sample), "deploy/nginx.conf has no \(sample)")
            text = text.replacing(sample, with: used)
        }
        return text
    }

    private static func withProxied(_ body: @Sendable (Proxied) async throws -> Void) async throws {
        try await withWeb(url: root, proxies: ["127.0.0.1"]) { web in
            let sample = SampleContent(web: web)
            try await sample.fill()
            let id = IntegrationID(bot: SampleContent.kit, number: 3)
            try await sample.publish(
                "1.4.2", by: try #require(try await web.store.integration(id)),
                files: RegistryRoutesTests.manifests.merging(["Kit-1.4.2.zip": Array("zip".utf8)]) { $1 },
                registry: PackageIdentifier("Acme.Kit"))
            let authority = try await CertificateAuthority(in: web.directory)
            let issued = try await authority.issue("server", host: "ci.example.com")
            let (port, place) = (try LoopbackSocket.freePort(), try web.directory.makeDirectory("nginx"))
            try web.directory.write("nginx/martlet", try configuration(web, port: port, issued))
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(place)/\($0);"
            }
            try web.directory.write(
                "nginx/nginx.conf",
                """
                user root; daemon off; pid \(place)/pid; error_log \(place)/error; events {}
                http { access_log off; \(temporary.joined(separator: " ")) include \(place)/martlet; }
                """)
            try await ServerProcess.running(
                ["/usr/sbin/nginx", "-p", place, "-e", place + "/error", "-c", place + "/nginx.conf"],
                log: web.directory.path("nginx.log"), end: SIGTERM, isReady: { LoopbackSocket.isListening(port) }
            ) { try await body(Proxied(web: web, port: port, authority: authority.certificate)) }
        }
    }

    @Test
    func testThatAddressesInAnswersLeadBeneathThePath() async throws {
        try await Self.withProxied { proxied in
            let registry = ["-H", "Accept: application/vnd.swift.registry.v1+json"]
            var known: Set<String> = []
            for (path, arguments) in [
                ("/api/v1/bots", []), ("/api/v1/integrations", []), ("/api/v1/bots/kit/integrations/3", []),
                ("/api/v1/bots/kit/integrations/3/artifacts", []), ("/api/v1/products/kit/versions", []),
                ("/files/", ["-H", "Accept: application/json"]), ("/files/kit/", ["-H", "Accept: application/json"]),
                ("/products/kit/feed.atom", []), ("/products/kit/feed.json", []), ("/bots/kit/feed.atom", []),
                ("/bots/kit/feed.json", []), ("/registry/Acme/Kit", registry), ("/registry/Acme/Kit/1.4.2", registry),
                ("/cctray.xml", []), ("/openapi.json", []),
            ] {
                // when
                let answer = try await proxied.get("/ci" + path, arguments)
                // then
                #expect(answer.status == 200, "\(path): \(answer.text)")
                let text = answer.text + (answer["Link"] ?? "")
                let absolute = text.matches(of: /https:\/\/ci\.example\.com[^"<>\s]*/).map { String($0.0) }
                let relative = text.matches(of: /"(?:url|href)":"(\/[^"]*)"/).map { String($0.1) }
                #expect(!absolute.isEmpty || !relative.isEmpty, "\(path) has no address")
                for address in absolute {
                    #expect(address == Self.root || address.hasPrefix(Self.root + "/"), "\(address) in \(path)")
                }
                for address in relative { #expect(address.hasPrefix("/ci/"), "\(address) in \(path)") }
                known.formUnion(absolute + relative)
            }
            // and each leads somewhere
            #expect(known.count > 15)
            for address in known.sorted() where address != Self.root {
                let status = try await proxied.get(address, ["-H", "Accept: */*"]).status
                #expect([200, 302, 303, 307, 401].contains(status), "\(address): \(status)")
            }
        }
    }

    @Test
    func testThatRedirectsAndSessionsStayBeneathThePath() async throws {
        try await Self.withProxied { proxied in
            // when: somebody signs in by the page's form
            let token = try #require(proxied.web.tokens[.operator]).secret
            let signedIn = try await proxied.get(
                "/ci/sign-in",
                [
                    "-H", "Origin: https://ci.example.com", "--data-urlencode", "token=\(token)", "--data-urlencode",
                    "next=/bots/kit",
                ])
            // then
            #expect(signedIn.status == 303, "\(signedIn.text)")
            #expect(signedIn["Location"] == "/ci/bots/kit")
            let cookie = String((signedIn["Set-Cookie"] ?? "").prefix { $0 != ";" })
            let page = try await proxied.get("/ci/bots/kit", ["-H", "Cookie: \(cookie)"])
            expectContains(page.text, "action=\"/ci/sign-out\"")
            // and the audit has the client's address, not the proxy's header of the client
            let entry = try #require(
                try await proxied.web.store.audit(AuditFilter(action: .signedIn), limit: 1).items.first)
            #expect(entry.entry.address == "127.0.0.1")
            // when: a page without the path's end, and a bot's former name
            try await proxied.web.store.register([], at: WebFixture.now)
            for item in try await proxied.web.store.integrations().items where item.state.verdict == nil {
                try await proxied.web.operations.cancel(item.id, by: "ann")
            }
            _ = try await proxied.web.operations.care.rename(
                SampleContent.kit, to: Name(nearest: "core"), by: "ann")
            let renamed = try await proxied.get("/ci/bots/kit/1?x=1")
            // then
            #expect(renamed.status == 307)
            #expect(renamed["Location"] == "/ci/bots/core/1?x=1")
        }
    }

    @Test(arguments: ["/api/v1/events", "/api/v1/bots/lib/integrations/1/log/debug/events"])
    func testThatEventsArriveBeneathThePath(path: String) async throws {
        try await Self.withProxied { proxied in
            // given
            let web = proxied.web
            let output = web.directory.path("events")
            let curl = try #require(proxied.curl.first)
            let program = curl.hasPrefix("/") ? curl : "/usr/bin/\(curl)"
            let job = try await running(web)
            let stream = try await StartedProgram.start(
                [program] + proxied.curl.dropFirst() + ["-N", proxied.address("/ci" + path)],
                environment: ["PATH": "/usr/bin:/bin"], output: output)
            await until("the stream begins") { (try? web.directory.text("events"))?.isEmpty == false }
            // when
            let log = try FileHandle(forWritingTo: URL(fileURLWithPath: web.directory.path(job + "/log")))
            try log.seekToEnd()
            try log.write(contentsOf: Array("before the end\n".utf8))
            try log.close()
            _ = try await web.store.pause(
                Pause(.service, reason: "before the end", person: "ann", at: WebFixture.now), boot: .current())
            // then
            let isLog = path.hasSuffix("/log/debug/events")
            await until("the event") {
                let text = (try? web.directory.text("events")) ?? ""
                return isLog ? text.contains("before the end") : text.contains("data:")
            }
            stream.signal(SIGTERM)
            _ = try await stream.end()
        }
    }

    /// Returns the directory of a running job of the bot `lib`.
    private func running(_ web: WebFixture) async throws -> String {
        let lib = Name(nearest: "lib")
        let known = try await web.store.specifications()
        _ = try await web.store.register(
            known + [BotSpecification(name: lib, repository: SampleContent.repository)], at: WebFixture.now)
        let record = try await web.store.queue(
            NewIntegration(bot: lib, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push),
            at: WebFixture.now)
        _ = try await web.store.apply(.started, to: record.id, at: WebFixture.now)
        let id = try await web.store.addAttempt(to: record.id, job: SampleContent.debug, at: WebFixture.now).id
        try await web.store.apply(.entered(.building), to: id, at: WebFixture.now)
        let place = "state/integrations/lib/1/debug/1"
        try web.directory.write("\(place)/log", "begin\n")
        try web.directory.write("\(place)/status.jsonl", "")
        return place
    }
}
