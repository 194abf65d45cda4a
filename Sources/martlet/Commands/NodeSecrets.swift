import API
import Basics
import CLinux
import Execution
import Foundation
import Glibc
import JobProtocol
import Transfer

/// Fetches the secrets of an attempt for the node that runs it, once, and hands them to the supervisor in an anonymous file.
struct NodeSecrets {
    let attempt: AttemptDirectory

    /// The end of an attempt that gets no secrets.
    struct Refusal: Error {
        var outcome: StatusEvent.Outcome
        var reason: String
    }

    /// How long a service is asked that does not answer, as while it is updated. Then another attempt is made, once it runs again.
    private static let patience = Duration.seconds(600)
    /// How long a service is asked that does not know the token. One that has just started knows it in a moment.
    private static let patienceUnknown = Duration.seconds(60)
    /// How long a service is asked whose certificate is not trusted. One that is being replaced is there in a moment.
    private static let patienceUntrusted = Duration.seconds(10)
    /// The size limit of the answer in bytes: the secrets' own with JSON's escapes.
    private static let answerLimit = 8 << 20

    /// Returns the descriptor of a file in memory with the attempt's `LaunchRequest`; `nil` if the attempt has no secrets. The descriptor is
    /// inherited by the program that replaces this one.
    /// - Throws: `Refusal`; `ExecutionError` if the token cannot be read; `TransferError` if libcurl cannot be started.
    func fetch() async throws -> Int32? {
        guard let token = try attempt.takeToken() else { return nil }
        // From here on no other process of this user may read this one's memory.
        clinux_hide_memory()
        guard token.isEncrypted || token.bootID == LockContent.ofThisProcess().bootID else {
            throw Refusal(
                outcome: .faulty,
                reason: "the secrets are at \(token.url), which is the daemon's machine's own loopback; "
                    + "the machine's owner sets `url` to an https address")
        }
        let secrets = try await ask(token)
        let bytes = LaunchRequest(attempt: attempt.path, secrets: secrets).json()
        return try MemoryFile("secrets", bytes).descriptor
    }

    /// What to do about a certificate of the service that a node does not trust.
    static let remedy = "name its issuer's certificate with `certificates` in the settings, or install it on the node"

    /// An anonymous file, which other processes of the user cannot open.
    private struct MemoryFile {
        let descriptor: Int32
        /// The path by which this process opens it.
        var path: String { "/proc/self/fd/\(descriptor)" }

        /// - Throws: `Refusal`.
        init(_ name: String, _ bytes: [UInt8]) throws(Refusal) {
            descriptor = clinux_memory_file(name)
            let descriptor = descriptor
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard descriptor >= 0, written == bytes.count else {
                throw Refusal(
                    outcome: .faulty, reason: "no file in memory for the \(name): \(String(cString: strerror(errno)))")
            }
        }

        func close() { _ = Glibc.close(descriptor) }
    }

    private func ask(_ token: SecretToken) async throws -> [String: String] {
        let transport = try CurlTransport()
        let use = RandomIdentifiers().next()
        var request = TransferRequest(
            .post, token.url, headers: ["Content-Type": "application/json"],
            body: .bytes(Array(try JSONEncoder().encode(API.SecretsRequest(token: token.token, use: use)))))
        request.isPlainHTTPAllowed = !token.isEncrypted
        let trusted = try token.certificates.map { try MemoryFile("certificates", Array($0.utf8)) }
        request.certificateAuthorities = trusted?.path
        defer { trusted?.close() }
        request.limits = TransferLimits(
            total: .seconds(30), stall: .seconds(30), response: Int64(Self.answerLimit))
        let begun = ContinuousClock.now
        var backoff = Backoff(first: .milliseconds(200), limit: .seconds(5))
        while true {
            if let canceled = Self.cancellation(of: attempt) { throw Refusal(outcome: .canceled, reason: canceled) }
            if clinux_termination_is_pending() != 0 {
                throw Refusal(outcome: .interrupted, reason: "the node was stopping")
            }
            let (trouble, patience): (String, Duration)
            switch await perform(request, transport) {
            case .success(let answer) where answer.status == 200: return try values(answer.body)
            case .success(let answer):
                let detail = (try? JSONDecoder().decode(API.Problem.self, from: Data(answer.body)))?.detail
                trouble = "\(answer.status) \(detail ?? "")"
                guard [404, 429, 502, 503, 504].contains(answer.status) else {
                    throw Refusal(outcome: .faulty, reason: "\(token.url) gives no secrets: \(trouble)")
                }
                patience = answer.status == 404 ? Self.patienceUnknown : Self.patience
            case .failure(let error) where error.code == .certificate:
                (trouble, patience) = ("\(error.message); \(Self.remedy)", Self.patienceUntrusted)
            case .failure(let error): (trouble, patience) = (error.message, Self.patience)
            }
            guard ContinuousClock.now - begun < patience else {
                throw Refusal(
                    outcome: .interrupted, reason: "no secrets could be fetched from \(token.url): \(trouble)")
            }
            try await Task.sleep(for: backoff.next())
        }
    }

    private func perform(
        _ request: TransferRequest, _ transport: CurlTransport
    ) async -> Result<TransferResponse, TransferError> {
        do throws(TransferError) {
            return .success(try await transport.perform(request))
        } catch {
            return .failure(error)
        }
    }

    private func values(_ body: [UInt8]) throws -> [String: String] {
        let answer = try JSONDecoder().decode(API.JobSecrets.self, from: Data(body))
        return Dictionary(answer.items.map { ($0.variable, $0.value) }) { $1 }
    }

    /// Returns why the attempt is to end; `nil` if it is not.
    static func cancellation(of attempt: AttemptDirectory) -> String? {
        guard let bytes = try? WholeFile.read(attempt.paths.cancel, limit: CancelRequest.sizeLimit) else { return nil }
        return (try? CancelRequest(json: bytes))?.reason ?? "canceled"
    }
}
