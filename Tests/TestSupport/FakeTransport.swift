import Basics
import Crypto
import Synchronization
package import Testing
package import Transfer

/// A server in memory: what is put can be got, moved and deleted.
///
/// It keeps the contract of `CurlTransport` against a WebDAV server; one suite runs both. A URL that no `serve(_:)` covers, and a
/// request that was forbidden, record an issue where the fake was made. `withFakeTransport` reports requests that the test
/// never looked at.
package final class FakeTransport: Transport {
    /// A request as it arrived.
    package struct Request: Sendable, Hashable, CustomStringConvertible {
        package let method: TransferRequest.Method
        package let url: String
        package let headers: TransferHeaders
        package let body: [UInt8]
        package let target: String?
        package let credentials: TransferCredentials?
        package let envelope: MailEnvelope?
        package let limits: TransferLimits

        package var description: String { "\(method.rawValue) \(url)" + (target.map { " to \($0)" } ?? "") }
    }

    /// How a request goes wrong.
    package enum Failure: Sendable {
        /// Nothing reached the server.
        case before(TransferError.Code)
        /// The server did what was asked, but its answer was lost.
        case after(TransferError.Code)
        /// The server answers this and does nothing.
        case status(Int)
        /// The server stores the body without its last byte, and answers as if all were well.
        case truncation
        /// The server stores the half of the body, and the connection breaks.
        case breaking
        /// The server never answers: the request ends when its task is canceled.
        case silence
        /// The same, after the server did what was asked.
        case silenceAfter
    }

    struct State {
        var origins: [String] = []
        var files: [String: [UInt8]] = [:]
        var collections: Set<String> = []
        var answers: [String: TransferResponse] = [:]
        var forges: [FakeForge] = []
        var forbidden: [(method: TransferRequest.Method, prefix: String)] = []
        var failures: [Int: Failure] = [:]
        var lost: Set<String> = []
        var count = 0
        var unread: [Request] = []
        var witness: (@Sendable (_ url: String) async -> Void)?
        var isMoveSupported = true
        var movesOver = false
        var needsCollections = false
    }

    let state = Mutex(State())
    let sourceLocation: SourceLocation

    package init(sourceLocation: SourceLocation = #_sourceLocation) { self.sourceLocation = sourceLocation }

    // MARK: Before

    /// What lies beneath a URL is served, empty at first; everything else is an unknown path.
    /// - Parameter movesOver: Whether a move goes over what is there, whatever it was asked.
    package func serve(
        _ prefix: String, isMoveSupported: Bool = true, needsCollections: Bool = false, movesOver: Bool = false
    ) {
        state.withLock { state in
            state.origins.append(prefix)
            state.collections.insert(prefix.hasSuffix("/") ? prefix : prefix + "/")
            (state.isMoveSupported, state.needsCollections) = (isMoveSupported, needsCollections)
            state.movesOver = movesOver
        }
    }

    /// Puts a file on the server.
    package func store(_ bytes: [UInt8], at url: String) { state.withLock { $0.files[url] = bytes } }

    /// Answers a method at one URL always so, such as a `POST` of an interface.
    package func answer(_ method: TransferRequest.Method, _ url: String, with response: TransferResponse) {
        state.withLock { $0.answers["\(method.rawValue) \(url)"] = response }
    }

    /// What lies beneath a forge's address is its to answer.
    package func serve(_ forge: FakeForge) {
        state.withLock { state in
            state.origins.append(forge.api + "/")
            state.forges.append(forge)
        }
    }

    /// What must not happen: a request of this method whose URL begins so records an issue and is refused.
    package func forbid(_ method: TransferRequest.Method, _ prefix: String) {
        state.withLock { $0.forbidden.append((method, prefix)) }
    }

    /// The n-th request from the beginning, counted from 1, fails.
    package func fail(request number: Int, with failure: Failure) { state.withLock { $0.failures[number] = failure } }

    /// The next request to a URL that ends so is done, and its answer lost.
    package func loseAnswer(toURLWithSuffix suffix: String) { state.withLock { _ = $0.lost.insert(suffix) } }

    /// Shows each request to the test while it is under way: after it came, before it is answered.
    package func witness(_ body: @escaping @Sendable (_ url: String) async -> Void) {
        state.withLock { $0.witness = body }
    }

    // MARK: After

    /// The requests since the last call, in their order; they count as read.
    package func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.unread = [] }
            return state.unread
        }
    }

    /// How many requests came.
    package var count: Int { state.withLock { $0.count } }

    /// A file on the server.
    package func file(_ url: String) -> [UInt8]? { state.withLock { $0.files[url] } }

    /// The URLs of all files on the server, sorted.
    package var urls: [String] { state.withLock { $0.files.keys.sorted() } }

    /// Reports requests that nobody looked at.
    package func finish() {
        let unread = takeRequests()
        if !unread.isEmpty {
            Issue.record(
                "\(unread.count) requests were never read; look at them with takeRequests(): \(unread)",
                sourceLocation: sourceLocation)
        }
    }
}

/// Gives a test a fake server, and reports afterwards what the test did not look at.
package func withFakeTransport<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (FakeTransport) async throws -> Value
) async throws -> Value {
    let transport = FakeTransport(sourceLocation: sourceLocation)
    let value = try await body(transport)
    transport.finish()
    return value
}
