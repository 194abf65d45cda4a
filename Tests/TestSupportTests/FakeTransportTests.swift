import TestSupport
import Testing
import Transfer

@Suite struct FakeTransportTests {
    private let url = "https://files.example/kit/a"

    @Test(.proves(.transfer, "`FakeTransport`: stateful, with tests of its own"))
    func testThatItRecordsAnIssueForAnUnknownPath() async {
        // given
        let transport = FakeTransport()
        transport.serve("https://files.example/kit/")

        // when
        await withKnownIssue {
            _ = try? await transport.perform(TransferRequest(.get, "https://elsewhere.example/"))
        } matching: {
            // then
            $0.comments.contains { $0.rawValue.contains("nothing is served there; say serve(_:)") }
        }
    }

    @Test func testThatItRecordsAnIssueForWhatWasForbidden() async {
        // given
        let transport = FakeTransport()
        transport.serve("https://files.example/")
        transport.forbid(.put, "https://files.example/kit/")

        // when
        await withKnownIssue {
            _ = try? await transport.perform(TransferRequest(.put, url, body: .bytes([1])))
        } matching: {
            // then
            $0.comments.contains { $0.rawValue.contains("was forbidden") }
        }
        #expect(transport.file(url) == nil)
    }

    @Test func testThatItReportsRequestsThatNobodyRead() async throws {
        try await withKnownIssue {
            try await withFakeTransport { transport in
                transport.serve("https://files.example/")
                _ = try await transport.perform(TransferRequest(.get, url))
            }
        } matching: {
            $0.comments.contains { $0.rawValue.contains("1 requests were never read") }
        }
    }

    @Test(.proves(.transfer, "`FakeTransport`: stateful, with tests of its own"))
    func testThatItFailsTheNthRequestAsTold() async throws {
        try await withFakeTransport { transport in
            // given
            transport.serve("https://files.example/")
            transport.fail(request: 1, with: .before(.unreachable))
            transport.fail(request: 2, with: .status(503))
            transport.fail(request: 3, with: .after(.interrupted))
            let put = TransferRequest(.put, url, body: .bytes([1, 2]))

            // when, then
            await expectRejection(TransferError.self, \.code, .unreachable) { try await transport.perform(put) }
            let answer = try await transport.perform(put)
            #expect(answer.status == 503)
            #expect(transport.file(url) == nil)
            await expectRejection(TransferError.self, \.code, .interrupted) { try await transport.perform(put) }
            #expect(transport.file(url) == [1, 2])
            #expect(transport.takeRequests().map(\.description) == Array(repeating: "PUT \(url)", count: 3))
        }
    }

    @Test func testThatItTruncatesWhatItStoresAsTold() async throws {
        try await withFakeTransport { transport in
            // given
            transport.serve("https://files.example/")
            transport.fail(request: 1, with: .truncation)

            // when
            let answer = try await transport.perform(TransferRequest(.put, url, body: .bytes([1, 2])))

            // then
            #expect(answer.status == 201)
            #expect(transport.file(url) == [1])
            #expect(transport.takeRequests().count == 1)
        }
    }

    @Test func testThatASilentServerIsLeftByCancellation() async throws {
        try await withFakeTransport { transport in
            // given
            transport.serve("https://files.example/")
            transport.fail(request: 1, with: .silence)
            let task = Task { try await transport.perform(TransferRequest(.put, url, body: .bytes([1]))) }
            await until("the request came") { transport.count == 1 }

            // when
            task.cancel()

            // then
            await expectRejection(TransferError.self, \.code, .canceled) { try await task.value }
            #expect(transport.file(url) == nil)
            #expect(transport.takeRequests().count == 1)
        }
    }

    @Test func testThatItAnswersAsTold() async throws {
        try await withFakeTransport { transport in
            // given
            transport.answer(.post, "https://api.example/status", with: TransferResponse(status: 201, body: [42]))

            // when
            let answer = try await transport.perform(
                TransferRequest(.post, "https://api.example/status", body: .bytes([7])))

            // then
            #expect(answer.status == 201)
            #expect(answer.body == [42])
            #expect(transport.takeRequests().map(\.body) == [[7]])
        }
    }
}
