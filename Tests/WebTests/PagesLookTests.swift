import Foundation
import TestSupport
import Testing

@testable import Web

/// Parts that every page has, whatever it shows.
@Suite struct PagesLookTests {
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web)
        }
    }

    @Test(
        .proves(.web, "`isolation: none` is said on every page"),
        arguments: [
            "/", "/bots/kit", "/bots/kit/1", "/bots/kit/1/log/debug", "/products/kit", "/deliveries", "/queue",
            "/screen",
            "/nowhere",
        ])
    func testThatEveryPageSaysThatJobsAreNotSandboxed(path: String) async throws {
        try await withSample { web in
            let answer = try await web.send("GET", path, headers: [("Accept", "text/html")])
            expectContains(answer.text, "<strong>isolation: none</strong>")
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`doctor`, every page, the integration's page, API and command line say which isolation, and why none"),
        arguments: ["/", "/bots/kit", "/bots/kit/1"])
    func testThatPagesOfTheServiceSayWhyNot(path: String) async throws {
        try await withSample { web in
            let answer = try await web.send("GET", path)
            expectContains(answer.text, "rights of the service (bwrap is not installed).")
        }
    }

    @Test(
        .proves(
            .jobs,
            "If steps cannot have their own network, pages, `doctor` and the log say why and what to install; `loopback` allows or forbids the host's loopback"
        ), arguments: ["/", "/products", "/deliveries"])
    func testThatEveryPageSaysWhyTheLoopbackIsReached(path: String) async throws {
        try await withWeb(isSandboxed: true) { web in
            expectContains(
                try await web.send("GET", path).text, "reach what listens on this machine’s loopback (no slirp4netns).")
            expectContains(try await web.send("GET", "/api/v1/bots").text, #""loopbackReason":"no slirp4netns""#)
        }
        try await withSample { web in
            let page = try await web.send("GET", path).text
            #expect(!page.contains("machine’s loopback"))
        }
    }

    @Test(
        .proves(
            .sandbox,
            "`doctor`, every page, the integration's page, API and command line say which isolation, and why none"))
    func testThatAnIntegrationSaysWhatItRanWith() async throws {
        try await withSample { web in
            let page = try await web.send("GET", "/bots/kit/1").text
            expectContains(page, "this job had all rights of the service's user: bwrap is not installed")
            let answer = try await web.send("GET", "/api/v1/bots").text
            expectContains(answer, #""isolation":"none","isolationReason":"bwrap is not installed""#)
        }
    }

    @Test(.proves(.web, "Pages have light and dark colors"))
    func testThatTheStyleIsLightAndDark() async throws {
        try await withSample { web in
            // given
            let page = try await web.send("GET", "/").text
            let path = try #require(page.firstMatch(of: /href="(\/[^"]+\.css[^"]*)"/)?.1)
            // when
            let style = try await web.send("GET", String(path))
            // then
            #expect(style.status == 200)
            #expect(style["Content-Type"]?.hasPrefix("text/css") == true)
            expectContains(style.text, "color-scheme: light dark")
            expectContains(style.text, "prefers-color-scheme: dark")
        }
    }

    @Test(arguments: ["/", "/bots/kit", "/bots/kit/1"])
    func testThatAPageIsSmall(path: String) async throws {
        try await withSample { web in
            let answer = try await web.send("GET", path)
            #expect(answer.body.count < 64 << 10)
        }
    }
}
