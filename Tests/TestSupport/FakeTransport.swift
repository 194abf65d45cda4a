import Basics
import Crypto
import Synchronization
package import Testing
package import Transfer

/// A server in memory for files: they can be put, got, moved and deleted.
///
/// It keeps the contract of `CurlTransport` with a WebDAV server; one suite runs both. An issue is recorded for a URL that no `serve(_:)` covers,
/// and for a forbidden request. `withFakeTransport` reports requests that the test never read.
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

    /// The way in which a request fails.
    package enum Failure: Sendable {
        /// The request does not reach the server.
        case before(TransferError.Code)
        /// The server executes the request, but its answer is lost.
        case after(TransferError.Code)
        /// The server answers with this status and does nothing.
        case status(Int)
        /// The server stores the body without its last byte, and answers as if all were well.
        case truncation
        /// The server stores half of the body, and the connection breaks.
        case breaking
        /// The server never answers: the request ends when its task is canceled.
        case silence
        /// The server executes the request and never answers.
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

    /// Serves the files below a URL; there are none at first. Every other URL is an unknown path.
    /// - Parameter movesOver: Whether a move replaces an existing file although the request forbids it.
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

    /// Answers a method at one URL always with this response, such as a `POST` of an API.
    package func answer(_ method: TransferRequest.Method, _ url: String, with response: TransferResponse) {
        state.withLock { $0.answers["\(method.rawValue) \(url)"] = response }
    }

    /// Passes requests below a forge's address to it.
    package func serve(_ forge: FakeForge) {
        state.withLock { state in
            state.origins.append(forge.api + "/")
            state.forges.append(forge)
        }
    }

    /// Forbids requests of a method whose URLs begin with a prefix. Such a request records an issue and is refused.
    package func forbid(_ method: TransferRequest.Method, _ prefix: String) {
        state.withLock { $0.forbidden.append((method, prefix)) }
    }

    /// Makes the n-th request fail, counted from 1.
    package func fail(request number: Int, with failure: Failure) { state.withLock { $0.failures[number] = failure } }

    /// Executes the next request to a URL with a suffix, and loses its answer.
    package func loseAnswer(toURLWithSuffix suffix: String) { state.withLock { _ = $0.lost.insert(suffix) } }

    /// Calls the closure for each request after its arrival and before its answer.
    package func witness(_ body: @escaping @Sendable (_ url: String) async -> Void) {
        state.withLock { $0.witness = body }
    }

    // MARK: After

    /// Returns the requests since the last call, in order, and marks them as read.
    package func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.unread = [] }
            return state.unread
        }
    }

    /// The number of requests so far.
    package var count: Int { state.withLock { $0.count } }

    /// Returns a file on the server.
    package func file(_ url: String) -> [UInt8]? { state.withLock { $0.files[url] } }

    /// The URLs of all files on the server, sorted.
    package var urls: [String] { state.withLock { $0.files.keys.sorted() } }

    /// Records an issue for requests that the test did not read.
    package func finish() {
        let unread = takeRequests()
        if !unread.isEmpty {
            Issue.record(
                "\(unread.count) requests were never read; look at them with takeRequests(): \(unread)",
                sourceLocation: sourceLocation)
        }
    }
}

/// Runs a test with a fake server, and afterwards reports the requests that the test did not read.
package func withFakeTransport<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: (FakeTransport) async throws -> Value
) async throws -> Value {
    let transport = FakeTransport(sourceLocation: sourceLocation)
    let value = try await body(transport)
    transport.finish()
    return value
}
