package import Basics

/// How often an upload that broke off is tried again, and how long is waited before.
package struct UploadRetries: Sendable {
    /// Tries in a row that bring the file no further; then it is given up.
    package var limit: Int
    /// Bytes that a try has to bring to the server to have brought the file further, 1 MiB: a line that lets that much through each
    /// time brings any file there, one that does not is given up.
    package static let step: Int64 = 1 << 20

    let backoff: Backoff
    let timer: any Clock<Duration>

    /// - Parameter backoff: Between tries. Default: 1 s at first, then twice as long each time, 30 s at most: with five tries a
    ///   server may be away for some 15 s, as long as a restart takes.
    package init(
        limit: Int = 5, backoff: Backoff = Backoff(first: .seconds(1), limit: .seconds(30)),
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit
        self.backoff = backoff
        self.timer = timer
    }

    /// Does a step until it succeeds, fails for good, or its tries are used up.
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

/// The tries at one file so far.
struct UploadTries: Sendable {
    /// From 1 on.
    private(set) var attempt = 1
    /// In a row.
    private(set) var fruitless = 0
    /// Bytes at the server.
    private(set) var furthest: Int64 = 0
    private(set) var interruption: String?
    private var backoff: Backoff

    init(backoff: Backoff = Backoff(first: .zero, limit: .zero)) { self.backoff = backoff }

    /// What the server has of the file.
    mutating func note(reached bytes: Int64) {
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
    /// Whether the same thing can end better a little later.
    var isWorthAnotherTry: Bool {
        switch code {
        case .unreachable, .timedOut, .interrupted: true
        // RFC 9110 sections 15.5.9 and 15.6, RFC 8470, RFC 6585. Not 501, nor a full disk (507), which a person has to mend.
        case .status: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0) } ?? false
        default: false
        }
    }
}
