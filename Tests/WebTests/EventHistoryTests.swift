import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

@Suite struct EventHistoryTests {
    private static func change(_ number: Int) -> StoreChange {
        .integration(IntegrationID(bot: SampleContent.kit, number: number))
    }

    /// Returns the numbers of the integrations that events name, and `gap` for a gap.
    private static func read(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            if line == "event: gap" { return "gap" }
            return line.firstMatch(of: /"number":(\d+)/).map { String($0.1) }
        }
    }

    /// WHATWG HTML, section 9.2.4: a client that reconnects sends the last id as `Last-Event-ID`.
    @Test(
        .proves(.web, "A client of `/api/v1/events` that comes back gets what it missed, by `Last-Event-ID`"))
    func testThatAClientThatComesBackGetsWhatItMissed() {
        // given
        let history = EventHistory()
        let first = history.reader(from: nil)
        history.record(Self.change(1))
        #expect(Self.read(first.next()) == ["1"])
        let last = first.id
        // when
        for number in 2...4 { history.record(Self.change(number)) }
        // then
        #expect(Self.read(history.reader(from: last).next()) == ["2", "3", "4"])
        #expect(Self.read(first.next()) == ["2", "3", "4"])
        #expect(history.reader(from: nil).next() == "")
    }

    @Test(
        .proves(
            .web,
            "Where events cannot be repeated, by their age or a restart, `/api/v1/events` says so with the event `gap`")
    )
    func testThatAGapIsSaid() {
        // given
        let history = EventHistory(kept: 3)
        let slow = history.reader(from: nil)
        let start = slow.id
        // when
        for number in 1...8 { history.record(Self.change(number)) }
        // then
        for reader in [slow, history.reader(from: start)] {
            let text = reader.next()
            #expect(Self.read(text) == ["gap", "6", "7", "8"])
            #expect(text.contains("data: {\"reason\":\"age\"}\n\n"))
            #expect(reader.next() == "")
        }
        #expect(Self.read(history.reader(from: "\(history.start)-5").next()) == ["6", "7", "8"])
        for id in ["0badcafe-5", "\(history.start)-9", "\(history.start)--1", "x", String(repeating: "9", count: 100)] {
            let text = history.reader(from: id).next()
            #expect(Self.read(text) == ["gap"], "\(id)")
            #expect(text.contains("data: {\"reason\":\"restart\"}\n\n"))
        }
    }

    @Test func testThatAStreamGoesOnAfterItsLastEvent() async throws {
        try await withWeb { web in
            // given
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let id = web.site.events.reader(from: nil).id
            let new = NewIntegration(
                bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .person)
            _ = try await web.store.queue(new, at: WebFixture.now)
            // when
            var request = TransferRequest(.get, "http://127.0.0.1:\(web.port)/api/v1/events")
            request.isPlainHTTPAllowed = true
            request.headers["Last-Event-ID"] = id
            // The stream ends with its transport.
            let transport = try CurlTransport()
            defer { withExtendedLifetime(transport) {} }
            let stream = try await transport.stream(request)
            // then
            var text = ""
            var iterator = stream.body.makeAsyncIterator()
            while !text.contains("event: integration"), let bytes = try await iterator.next() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasPrefix("retry: 3000\nid: \(id)\n\n"))
            #expect(!text.contains("event: gap"))
        }
    }
}
