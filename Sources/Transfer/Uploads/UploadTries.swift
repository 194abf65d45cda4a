package import Basics

/// The number of tries for an interrupted upload, and the pauses between them.
package struct UploadRetries: Sendable {
    /// The number of consecutive tries without progress after which the upload fails.
    package var limit: Int
    /// The number of bytes that a try must transfer to count as progress: 1 MiB. With that much in each try any file arrives eventually; otherwise
    /// the upload fails.
    package static let step: Int64 = 1 << 20

    let backoff: Backoff
    let timer: any Clock<Duration>

    /// Creates settings.
    /// - Parameters:
    ///   - limit: The number of consecutive tries without progress after which the upload fails.
    ///   - backoff: The pauses between tries. By default 1 s at first, then twice as long each time, at most 30 s. With five tries a server may be
    ///     unavailable for some 15 s, which is enough for a restart.
    package init(
        limit: Int = 5, backoff: Backoff = Backoff(first: .seconds(1), limit: .seconds(30)),
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit
        self.backoff = backoff
        self.timer = timer
    }

    /// Runs a step until it succeeds, fails permanently, or has used up its tries.
    func repeating<Value>(
        _ target: UploadTarget, _ step: (inout UploadTries) async throws(TransferError) -> Value
    ) async throws(TransferError) -> Value {
        var tries = UploadTries(backoff: backoff)
        while true {
            do throws(TransferError) {
                return try await step(&tries)
            } catch {
                guard error.isWorthAnotherTry else { throw error }
                let wait = tries.fail(error)
                guard tries.fruitless < limit else {
                    throw TransferError(
                        code: error.code, operation: error.operation,
                        message: "\(error.message); given up after \(tries.fruitless) tries that came no further",
                        underlying: error, status: error.status)
                }
                target.course.say(.waiting, bytes: tries.furthest, tries)
                do {
                    try await timer.sleep(for: wait)
                } catch {
                    throw TransferError(
                        code: .canceled, operation: "upload to \(target.shown)", message: "it was canceled")
                }
                tries.begin()
            }
        }
    }
}

/// The tries for one file so far.
struct UploadTries: Sendable {
    /// The number of the current try, counted from 1.
    private(set) var attempt = 1
    /// The number of consecutive tries without progress.
    private(set) var fruitless = 0
    /// The number of the file's bytes at the server.
    private(set) var furthest: Int64 = 0
    private(set) var interruption: String?
    private var backoff: Backoff

    init(backoff: Backoff = Backoff(first: .zero, limit: .zero)) { self.backoff = backoff }

    /// Records how many of the file's bytes the server has.
    mutating func record(reached bytes: Int64) {
        if bytes >= furthest + UploadRetries.step {
            fruitless = 0
            backoff.reset()
            furthest = bytes
        }
    }

    fileprivate mutating func fail(_ error: TransferError) -> Duration {
        fruitless += 1
        interruption = error.message
        return backoff.next()
    }

    fileprivate mutating func begin() { attempt += 1 }
}

extension TransferError {
    /// Whether a later try may succeed.
    var isWorthAnotherTry: Bool {
        switch code {
        case .unreachable, .timedOut, .interrupted: true
        // RFC 9110, sections 15.5.9 and 15.6; RFC 8470; RFC 6585. Not 501, and not a full disk (507), which the operator has to fix.
        case .status: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0) } ?? false
        default: false
        }
    }
}
