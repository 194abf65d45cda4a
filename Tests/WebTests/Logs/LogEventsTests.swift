import Basics
import CoreFoundation
import Execution
import Glibc
import JobProtocol
import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

@Suite struct LogEventsTests {
    /// A running attempt, whose log a test writes as a supervisor does.
    struct Running: Sendable {
        let web: WebFixture
        let id: AttemptID
        private let log: Int32
        /// Streams end with the transport.
        private let transport: CurlTransport
        let attempt: AttemptDirectory

        init(_ web: WebFixture) async throws {
            self.web = web
            transport = try CurlTransport()
            let store = web.store
            try await store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let record = try await store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push
                ),
                at: WebFixture.now)
            _ = try await store.apply(.started, to: record.id, at: WebFixture.now)
            id = try await store.addAttempt(to: record.id, job: SampleContent.debug, at: WebFixture.now).id
            try await store.apply(.entered(.building), to: id, at: WebFixture.now)
            let place = "state/integrations/kit/1/debug/1"
            try web.directory.write("\(place)/log", "")
            try web.directory.write("\(place)/status.jsonl", "")
            attempt = AttemptDirectory(path: web.directory.path(place))
            log = open(attempt.paths.log, O_WRONLY | O_APPEND | O_CLOEXEC)
            try #require(log >= 0)
        }

        func print(_ bytes: [UInt8]) { #expect(write(log, bytes, bytes.count) == bytes.count) }
        func print(_ text: String) { print(Array(text.utf8)) }

        func finish() throws {
            let line = StatusEvent.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil).line()
            let status = open(attempt.paths.status, O_WRONLY | O_APPEND | O_CLOEXEC)
            defer { close(status) }
            #expect(write(status, line + [0x0A], line.count + 1) == line.count + 1)
        }

        /// Stores another attempt, with a complete log.
        func another(_ text: String) async throws {
            let id = try await web.store.addAttempt(to: id.integration, job: SampleContent.debug, at: WebFixture.now)
            let place = "state/integrations/kit/1/debug/\(id.id.attempt)"
            try web.directory.write("\(place)/log", text)
            let end = StatusEvent.finished(at: 0, result: .completed, reason: nil, limit: nil, step: nil).line()
            try web.directory.write("\(place)/status.jsonl", String(decoding: end + [0x0A], as: UTF8.self))
        }

        /// Stores its end, although its supervisor never reported one.
        func lose() async throws {
            let lost = AttemptResults(analysis: "not run", tested: "not run", verdict: .internalError, reason: "lost")
            try await web.store.storeResults(lost, of: id, at: WebFixture.now)
        }

        func events(_ query: String = "", headers: TransferHeaders = [:]) async throws -> TransferStream {
            var request = TransferRequest(
                .get,
                "http://127.0.0.1:\(web.port)/api/v1/bots/kit/integrations/1/log/debug/events\(query)", headers: headers
            )
            request.isPlainHTTPAllowed = true
            return try await transport.stream(request)
        }
    }

    /// Reads until the text contains the expected one.
    private func read(
        _ stream: TransferStream, _ text: inout String, until wanted: String
    ) async throws {
        if text.contains(wanted) { return }
        for try await bytes in stream.body {
            text += String(decoding: bytes, as: UTF8.self)
            if text.contains(wanted) { return }
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatWhatIsPrintedComesAtOnceAndTheEndIsSaid() async throws {
        // The log is read only after a change.
        try await withWeb(looksAtLogs: .seconds(3600)) { web in
            // given
            let job = try await Running(web)
            job.print("before\n")
            let stream = try await job.events()
            #expect(stream.headers["Content-Type"] == "text/event-stream")
            var text = ""
            try await read(stream, &text, until: "before")
            // when
            for number in 1...20 {
                job.print("line \(number)\n")
                try await read(stream, &text, until: "line \(number)\\n")
            }
            try job.finish()
            // then
            try await read(stream, &text, until: "event: end")
            expectContains(text, #"id: 1.7\#nevent: log\#ndata: {"offset":0,"size":7,"text":"before\n"}"#)
            expectContains(text, "event: end\ndata: {\"size\":\(job.attempt.logSize)}\n\n")
            for try await _ in stream.body { Issue.record("the stream ends") }
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatAReaderThatComesBackGetsWhatItDoesNotHave() async throws {
        try await withWeb { web in
            // given
            let job = try await Running(web)
            job.print("one\ntwo\n")
            try job.finish()
            // when
            let again = try await job.events("?from=0", headers: ["Last-Event-ID": "1.4"])
            let from = try await job.events("?from=4")
            // then
            for stream in [again, from] {
                var text = ""
                try await read(stream, &text, until: "event: end")
                expectContains(text, #"{"offset":4,"size":4,"text":"two\n"}"#)
                #expect(!text.contains("one"))
            }
            // and when
            let beyond = try await job.events("?from=99999")
            // then
            var text = ""
            try await read(beyond, &text, until: "event: end")
            expectContains(text, "event: end\ndata: {\"size\":\(job.attempt.logSize)}")
            for odd in ["abc", "-1"] { #expect(try await job.events("?from=\(odd)").status == 400, "\(odd)") }
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatAReaderStaysWithItsAttempt() async throws {
        try await withWeb(looksAtLogs: .milliseconds(1)) { web in
            // given: its supervisor is lost, and another attempt waits, which has no log yet
            let job = try await Running(web)
            job.print("one\n")
            let stream = try await job.events()
            var text = ""
            try await read(stream, &text, until: "one")
            // when
            try await job.lose()
            _ = try await web.store.addAttempt(to: job.id.integration, job: SampleContent.debug, at: WebFixture.now)
            // then
            try await read(stream, &text, until: "event: end")
            expectContains(text, "event: end\ndata: {\"size\":4}\n\n")
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatWhoComesBackGoesOnInTheAttemptThatItWasIn() async throws {
        try await withWeb { web in
            // given
            let job = try await Running(web)
            job.print("one\ntwo\n")
            try job.finish()
            try await job.another("of the second\n")
            // when
            let back = try await job.events(headers: ["Last-Event-ID": "1.4"])
            let new = try await job.events()
            let other = try await job.events("?attempt=2", headers: ["Last-Event-ID": "1.4"])
            let unknown = try await job.events(headers: ["Last-Event-ID": "7.4"])
            // then
            var text = ""
            try await read(back, &text, until: "event: end")
            expectContains(text, #"id: 1.8\#nevent: log\#ndata: {"offset":4,"size":4,"text":"two\n"}"#)
            #expect(!text.contains("second"))
            for stream in [new, other, unknown] {
                var text = ""
                try await read(stream, &text, until: "event: end")
                expectContains(text, #"id: 2.14\#nevent: log\#ndata: {"offset":0,"size":14,"text":"of the second\n"}"#)
            }
        }
    }

    @Test func testThatABrowserThatWasToldTheEndIsToldToStayAway() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let path = "/api/v1/bots/kit/integrations/1/log/debug/events"
            let size = try await web.send("GET", "/api/v1/bots/kit/integrations/1/log/debug").body.count
            // when
            let answer = try await web.send("GET", path, headers: [("Last-Event-ID", "1.\(size)")])
            // then
            #expect(answer.status == 204)
        }
    }

    @Test func testThatBytesThatAreNoTextComeAsTheyAre() async throws {
        try await withWeb { web in
            // given
            let job = try await Running(web)
            job.print([0xFF, 0x00, 0x80])
            let stream = try await job.events()
            var text = ""
            // when
            try await read(stream, &text, until: "base64")
            // then: a character in two writes is one
            expectContains(text, #"{"offset":0,"size":3,"base64":"/wCA"}"#)
            job.print([0x61, 0xC3])
            try await read(stream, &text, until: #""text":"a""#)
            job.print([0xA9])
            try await read(stream, &text, until: #"{"offset":4,"size":2,"text":"é"}"#)
            try job.finish()
            try await read(stream, &text, until: "event: end")
        }
    }

    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testA10ThatAReaderThatGoesAwayChangesNothing() async throws {
        try await withWeb { web in
            // given
            let job = try await Running(web)
            let stays = try await job.events()
            var text = ""
            do {
                let goes = try await job.events()
                job.print("first\n")
                var seen = ""
                try await read(goes, &seen, until: "first")
            }
            // when
            job.print("second\n")
            #expect(try await web.store.integration(job.id.integration)?.state.verdict == nil, "it goes on")
            try job.finish()
            // then
            try await read(stays, &text, until: "event: end")
            expectContains(text, "second")
        }
    }

    /// The job prints nothing by which the server could notice the disconnection.
    @Test(.proves(.jobs, "A log followed by server-sent events, `martlet log --follow`"))
    func testThatAReaderThatGoesAwayIsNoticedAndNothingOfItRemains() async throws {
        try await withWeb(looksAtLogs: .milliseconds(1)) { web in
            // given
            let job = try await Running(web)
            job.print("first\n")
            do {
                let goes = try await job.events()
                var seen = ""
                try await read(goes, &seen, until: "first")
                #expect(try Self.isWatched(job.attempt.paths.log))
            }
            // when: the reader is gone
            // then
            try await until("nobody watches the log") { try !Self.isWatched(job.attempt.paths.log) }
            try job.finish()
        }
    }

    /// Whether a file is watched in this process, according to the kernel (proc_pid_fdinfo(5)).
    private static func isWatched(_ path: String) throws -> Bool {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let wanted = " ino:\(String(status.st_ino, radix: 16)) "
        return try Directory(opening: "/proc/self/fdinfo").entries().contains { entry in
            // Descriptors of other tests are opened and closed meanwhile.
            let text = SmallFile.read("/proc/self/fdinfo/" + entry.name, limit: 1 << 20) ?? []
            return String(decoding: text, as: UTF8.self).split(separator: "\n").contains {
                $0.hasPrefix("inotify ") && $0.contains(wanted)
            }
        }
    }

    /// Row L2 of the threats.
    @Test(.proves(.intake, "1,000 readers of one log delay nobody; each has one piece of it in memory (L2)"))
    func testThatL2ReadersThatDoNotReadHoldNobodyUp() async throws {
        try await withWeb { web in
            // given
            let job = try await Running(web)
            var idle: [TransferStream] = []
            for _ in 0..<20 { idle.append(try await job.events()) }
            let line = Array(
                "[1/2] Compiling Kit File.swift, in a line of some seventy bytes\n".utf8)
            // when: more than the buffers between a server and a reader that does not read
            for _ in 0..<100 { job.print(Array(repeatElement(line, count: 1000).joined())) }
            try job.finish()
            // then
            var (size, tail) = (0, "")
            for try await bytes in try await job.events().body {
                size += bytes.count
                tail = String((tail + String(decoding: bytes, as: UTF8.self)).suffix(200))
            }
            expectContains(tail, "event: end\ndata: {\"size\":\(line.count * 100_000)}\n\n")
            #expect(size > line.count * 100_000)
            #expect(idle.allSatisfy { $0.status == 200 })
        }
    }

    @Test func testThatTheEndsOfPiecesAreFound() {
        #expect(LogEvents.unfinished(Array("a".utf8)) == 0)
        #expect(LogEvents.unfinished([0x61, 0xC3]) == 1)
        #expect(LogEvents.unfinished([0xE2, 0x82]) == 2)
        #expect(LogEvents.unfinished([0xF0, 0x9F, 0x98]) == 3)
        #expect(LogEvents.unfinished(Array("😀".utf8)) == 0)
        #expect(LogEvents.unfinished([0x80, 0x80, 0x80]) == 0)
        #expect(LogEvents.unfinished([0xFF]) == 0)
    }
}
