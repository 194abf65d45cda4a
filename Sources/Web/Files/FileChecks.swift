import Basics
import Crypto
import Encodings
import Model
import Synchronization

/// Remembers which files match their recorded digest and which do not. A file is read once for this, and again when its inode, size or times have
/// changed. The scrub finds bytes that changed in place.
final class FileChecks: Sendable {
    private struct Known: Hashable {
        let status: FileStatus
        let sha256: String
    }
    private struct State {
        var whole: Set<Known> = []
        var running: [Known: Task<Bool, any Error>] = [:]
        /// When each file was found damaged, by path.
        var damaged: [String: Timestamp] = [:]
        var lookedAt: Timestamp?
    }

    /// The most files whose results are cached, about 20 MB. When the cache is full, it is emptied and files are read again.
    private static let maximumKnown = 100_000
    /// Concurrent checks take turns after each piece. A SHA-256 of 16 MiB takes 10 to 40 ms.
    static let pieceBytes = 16 << 20
    private static let readBytes = 256 << 10

    /// A serial queue of its own, so that no download waits for the check of another file.
    private let queue = SerialQueue(label: "files-check")
    private let state = Mutex(State())

    /// Returns whether a file's bytes have the digest. The result is cached; concurrent callers share one read of the file.
    /// - Throws: The errors of reading the file.
    func isWhole(_ file: RecordedFile, sha256: String) async throws -> Bool {
        let known = Known(status: file.status, sha256: sha256)
        let task: Task<Bool, any Error>? = state.withLock { state in
            if state.whole.contains(known) { return nil }
            if let task = state.running[known] { return task }
            let task = Task { [self] in try await read(file, known) }
            state.running[known] = task
            return task
        }
        guard let task else { return true }
        return try await task.value
    }

    /// Reads a file even if its result is cached, and returns whether its bytes have the digest.
    /// - Parameter rest: Called after each piece, for a pause.
    /// - Throws: The errors of reading the file and of `rest`.
    func read(
        _ file: RecordedFile, sha256: String, rest: @Sendable () async throws -> Void
    ) async throws -> Bool {
        let known = Known(status: file.status, sha256: sha256)
        let isWhole = try await digest(file.file, size: file.status.size, rest: rest) == sha256
        let isUnchanged = await queue.run { file.isUnchanged }
        keep(known, isWhole && isUnchanged)
        return isWhole
    }

    private func read(_ file: RecordedFile, _ known: Known) async throws -> Bool {
        defer { state.withLock { $0.running[known] = nil } }
        return try await read(file, sha256: known.sha256) {}
    }

    private func keep(_ known: Known, _ isWhole: Bool) {
        state.withLock { state in
            if !isWhole {
                state.whole.remove(known)
            } else {
                if state.whole.count >= Self.maximumKnown { state.whole = [] }
                state.whole.insert(known)
            }
        }
    }

    private func digest(_ file: OpenFile, size: Int64, rest: @Sendable () async throws -> Void) async throws -> String {
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < size {
            let (begin, end) = (offset, min(size, offset + Int64(Self.pieceBytes)))
            hash = try await queue.run { [hash] in
                var hash = hash
                var offset = begin
                while offset < end {
                    let bytes = try file.read(at: offset, count: Int(min(end - offset, Int64(Self.readBytes))))
                    // The file has become shorter, so its digest differs anyway.
                    if bytes.isEmpty { break }
                    hash.update(data: bytes)
                    offset += Int64(bytes.count)
                }
                return hash
            }
            offset = end
            try await rest()
        }
        return Hexadecimal.encode(hash.finalize())
    }

    // MARK: Damage

    /// Records a file as damaged until it is found intact.
    /// - Returns: Whether it was not recorded before.
    @discardableResult
    func isDamaged(_ path: String, at time: Timestamp) -> Bool {
        state.withLock { state in
            guard state.damaged[path] == nil else { return false }
            state.damaged[path] = time
            return true
        }
    }

    func isKnownDamaged(_ path: String) -> Bool { state.withLock { $0.damaged[path] != nil } }

    func isWell(_ path: String) { state.withLock { state in if !state.damaged.isEmpty { state.damaged[path] = nil } } }

    /// When the last check of all published files ended; `nil` if none has ended since the start.
    var lookedAt: Timestamp? {
        get { state.withLock { $0.lookedAt } }
        set { state.withLock { $0.lookedAt = newValue } }
    }

    /// The damaged files with the time of each discovery, sorted by path.
    var damaged: [(path: String, since: Timestamp)] {
        state.withLock { $0.damaged.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}
