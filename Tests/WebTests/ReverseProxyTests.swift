import Basics
import Glibc
import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// The service behind a reverse proxy with only `proxy_pass` in its configuration.
@Suite struct ReverseProxyTests {
    /// Runs nginx with its defaults in front of the service.
    /// - Parameter location: `location PATH { … }`, in which PORT is the service's port.
    private static func withProxy(
        _ web: WebFixture, _ location: String = "location / { proxy_pass http://127.0.0.1:PORT; }",
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let port = try LoopbackSocket.freePort()
        let place = try web.directory.makeDirectory("nginx")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(place)/\($0);" }
        try web.directory.write(
            "nginx/nginx.conf",
            """
            user root; daemon off; pid \(place)/pid; error_log \(place)/error; events {}
            http { access_log off; \(temporary.joined(separator: " "))
              server { listen 127.0.0.1:\(port); \(location.replacing("PORT", with: "\(web.port)")) } }
            """)
        try await ServerProcess.running(
            ["/usr/sbin/nginx", "-p", place, "-e", place + "/error", "-c", place + "/nginx.conf"],
            log: web.directory.path("nginx.log"), end: SIGTERM, isReady: { LoopbackSocket.isListening(port) }
        ) { try await body(port) }
    }

    /// - Parameter transport: The caller keeps it as long as the stream is read.
    private static func stream(_ path: String, port: Int, _ transport: CurlTransport) async throws -> TransferStream {
        var request = TransferRequest(.get, "http://127.0.0.1:\(port)\(path)")
        request.isPlainHTTPAllowed = true
        return try await transport.stream(request)
    }

    @Test(
        .proves(.intake, "A live log arrives as it is printed behind a proxy with default settings"),
        arguments: ["/api/v1/events", "/api/v1/bots/kit/integrations/1/log/debug/events"])
    func testThatEventStreamsTellProxiesNotToHoldThemBack(path: String) async throws {
        try await withWeb { web in
            _ = try await LogEventsTests.Running(web)
            let stream = try await Self.stream(path, port: web.port, CurlTransport())
            #expect(stream.headers["X-Accel-Buffering"] == "no")
            #expect(stream.headers["Cache-Control"] == "no-store, no-transform")
        }
    }

    /// Without the header nginx passes a job's output on only after some KiB, or at the end.
    @Test(
        .proves(.intake, "A live log arrives as it is printed behind a proxy with default settings"), .program("nginx"),
        .timeLimit(TestLimits.minutes(1)))
    func testThatALogArrivesAsItIsPrinted() async throws {
        try await withWeb { web in
            // given
            let job = try await LogEventsTests.Running(web)
            try await Self.withProxy(web) { port in
                let transport = try CurlTransport()
                defer { withExtendedLifetime(transport) {} }
                let stream = try await Self.stream(
                    "/api/v1/bots/kit/integrations/1/log/debug/events", port: port, transport)
                // when
                job.print("before the end\n")
                // then
                var text = ""
                for try await bytes in stream.body {
                    text += String(decoding: bytes, as: UTF8.self)
                    if text.contains("before the end") { break }
                }
                expectContains(text, "before the end")
                try job.finish()
            }
        }
    }

    /// A `location` that removes the path, and one that passes it on.
    @Test(
        .proves(
            .intake,
            "`url` may have a path under which a proxy serves the service: links and redirects use it, whether the proxy passes the path on or removes it"
        ),
        .program("nginx"),
        arguments: [
            "location /ci/ { proxy_pass http://127.0.0.1:PORT/; }",
            "location /ci { proxy_pass http://127.0.0.1:PORT; }",
        ])
    func testThatAServiceBeneathAPathLinksToItself(location: String) async throws {
        try await withWeb(url: "http://ci.example/ci") { web in
            // given
            try await SampleContent(web: web).fill()
            try await Self.withProxy(web, location) { port in
                // when
                var (waiting, known) = (["/ci/"], Set(["/ci/"]))
                while let path = waiting.popLast() {
                    let answer = try await RawAnswer.send("GET", path, headers: [("Accept", "text/html")], port: port)
                    // then: a link that needs a token is not dead
                    #expect([200, 302, 401].contains(answer.status), "\(path): \(answer.status)")
                    let links =
                        answer["Content-Type"]?.hasPrefix("text/html") == true
                        ? answer.text.matches(of: /(?:href|src|action)="(\/[^"#]*)/).map { String($0.1) } : []
                    for link in links + [answer["Location"]].compactMap(\.self) {
                        #expect(link.hasPrefix("/ci/"), "\(link) on \(path)")
                        let target = link.replacing("&amp;", with: "&")
                        if known.insert(target).inserted { waiting.append(target) }
                    }
                }
                #expect(known.count > 30)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "`url` may have a path under which a proxy serves the service: links and redirects use it, whether the proxy passes the path on or removes it"
        ))
    func testThatWhatOthersWroteIsNotRebased() {
        let page = #"<a href="/bots/kit">x</a><p>&quot; href=&quot;/etc&quot;</p><a href="https://a.example/">y</a>"#
        #expect(
            HTMLText.rebased(page, on: "/ci")
                == #"<a href="/ci/bots/kit">x</a><p>&quot; href=&quot;/etc&quot;</p><a href="https://a.example/">y</a>"#
        )
        #expect(HTMLText.rebased(page, on: "") == page)
    }

    /// The service's own paths are never taken for the path that a proxy adds.
    @Test(
        .proves(
            .intake,
            "`url` may have a path under which a proxy serves the service: links and redirects use it, whether the proxy passes the path on or removes it"
        ))
    func testThatTheServicesOwnPathsGoFirst() async throws {
        try await withWeb(url: "http://ci.example/files") { web in
            try await SampleContent(web: web).fill()
            try await web.expect(200, "GET", "/files/kit/1.0.0/page.html")
        }
    }
}
