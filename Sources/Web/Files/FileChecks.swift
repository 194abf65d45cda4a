import Basics
import Crypto
import Model
import Synchronization

/// Which files were found to be what was recorded, and which were not. A file is read for it once, and again when its inode, size or
/// times are others; bytes that change beneath them are found by the scrub.
final class FileChecks: Sendable {
    private struct Known: Hashable {
        let status: FileStatus
        let sha256: String
    }
    private struct State {
        var whole: Set<Known> = []
        var running: [Known: Task<Bool, any Error>] = [:]
        /// By path, since when.
        var damaged: [String: Timestamp] = [:]
        var lookedAt: Timestamp?
    }

    /// So many files are known at a time: some 20 MB. Beyond, all are looked at again.
    private static let maximumKnown = 100_000
    /// Several checks take turns after each piece: 16 MiB take a SHA-256 some 10 to 40 ms.
    static let pieceBytes = 16 << 20
    private static let readBytes = 256 << 10

    /// Of its own, so that no download waits for a check of another file.
    private let lane = BlockingLane(label: "files-check")
    private let state = Mutex(State())

    /// Whether a file's bytes have the digest, from what is known or by reading them, once for all who ask.
    /// - Throws: What reading it throws.
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

    /// Reads a file, whatever is known of it.
    /// - Parameter rest: Waited for after each piece.
    func read(
        _ file: RecordedFile, sha256: String, rest: @Sendable () async throws -> Void
    ) async throws -> Bool {
        let known = Known(status: file.status, sha256: sha256)
        let isWhole = try await digest(file.file, size: file.status.size, rest: rest) == sha256
        let isUnchanged = await lane.run { file.isUnchanged }
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
            hash = try await lane.run { [hash] in
                var hash = hash
                var offset = begin
                while offset < end {
                    let bytes = try file.read(at: offset, count: Int(min(end - offset, Int64(Self.readBytes))))
                    // Shorter than it was: its digest is another.
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

    /// Keeps a file among the damaged ones until it is found to be well.
    /// - Returns: Whether that is new.
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

    /// When every published file had been read, the last time; nothing: not since the start.
    var lookedAt: Timestamp? {
        get { state.withLock { $0.lookedAt } }
        set { state.withLock { $0.lookedAt = newValue } }
    }

    /// Paths and since when, by path.
    var damaged: [(path: String, since: Timestamp)] {
        state.withLock { $0.damaged.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}
