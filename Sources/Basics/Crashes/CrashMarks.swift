import CLinux
import Glibc
import Synchronization

/// A record of the work in progress, from which the next daemon learns what was running at a trap. A commit or a server's answer that always traps
/// must not keep the service from starting and from its other work.
///
/// All work in progress at a trap is suspect. Only one suspect is tried at a time, so that the guilty one is found and the others are cleared. Work
/// that was in progress at three traps is abandoned, until another version runs or its line in the file is removed.
///
/// A kill, a power loss and a lack of memory do not count. Neither does a trap of a thread that answers a request (`AnsweringThread`): it counts
/// against that request alone.
package final class CrashMarks: Sendable {
    /// The number of traps after which work is abandoned.
    package static let limit = 3
    /// The number of records in the file, more than all integrations and scans at a time need, and the size of each record in bytes.
    private static let places = 512
    private static let placeBytes = 256
    /// The size in bytes of the file's head, which records whether the daemon trapped.
    private static let head = 64
    /// The first byte of the file after a trap outside of requests; see `clinux_note_traps`.
    private static let ofWork: UInt8 = 1

    private struct State {
        var free = Array((0..<CrashMarks.places).reversed())
        /// The number of traps during which each suspect was in progress.
        var counts: [String: Int]
        var isTrying = false
        var waiting: ArraySlice<CheckedContinuation<Void, Never>> = []
    }

    private let state: Mutex<State>
    private let counts: CrashCounts
    /// The descriptor of `working`. The kernel keeps what was written to it even if the process ends, so it is never synchronized.
    private let file: Int32

    /// Reads the file that the previous daemon left, and starts a new one.
    /// - Parameters:
    ///   - directory: The state directory, which holds `working` and `crashes`.
    ///   - version: The version of this program. Work that made another version trap is tried again.
    /// - Throws: `FileError` if a file cannot be read or written.
    package init(directory: String, version: String) throws(FileError) {
        let path = directory + "/working"
        let size = Self.head + Self.places * Self.placeBytes
        let file = clinux_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileError(operation: "open", path: path, errno: errno) }
        self.file = file
        counts = CrashCounts(path: directory + "/crashes", version: version)
        do throws(FileError) {
            var found = try counts.read()
            var bytes = [UInt8](repeating: 0, count: size)
            let count = pread(file, &bytes, size, 0)
            if count > Self.head, bytes[0] == Self.ofWork {
                for place in 0..<Self.places {
                    let text = bytes[(Self.head + place * Self.placeBytes)...].prefix(Self.placeBytes).prefix {
                        $0 != 0
                    }
                    if !text.isEmpty { found[String(decoding: text, as: UTF8.self), default: 0] += 1 }
                }
                try counts.write(found)
            }
            let empty = [UInt8](repeating: 0, count: size)
            guard pwrite(file, empty, size, 0) == size else {
                throw FileError(operation: "write", path: path, errno: errno)
            }
            state = Mutex(State(counts: found))
        } catch {
            close(file)
            throw error
        }
        clinux_note_traps(file) { AnsweringThread.isAnswering ? 1 : 0 }
    }

    deinit {
        clinux_forget_traps(file)
        close(file)
    }

    /// Returns why a subject is abandoned; `nil` if it is not.
    package func reason(for subject: String) -> String? {
        let count = state.withLock { $0.counts[Self.cut(subject)] ?? 0 }
        guard count >= Self.limit else { return nil }
        return """
            the daemon ended \(count) times by a fault of its own while it worked on this, which is left alone until another version \
            runs, or its line is taken out of the state directory's file crashes and the daemon is restarted; please report it
            """
    }

    /// Records a subject as in progress while `body` works on it. A suspect waits until no other suspect is tried. A suspect that completes `body` is
    /// no longer a suspect.
    package func during<Value: Sendable>(_ subject: String, _ body: () async -> Value) async -> Value {
        let subject = Self.cut(subject)
        let isSuspect = await begin(subject)
        let place = state.withLock { $0.free.popLast() }
        if let place { write(subject, at: place) }
        defer {
            if let place {
                write("", at: place)
                state.withLock { $0.free.append(place) }
            }
            if isSuspect { end() }
        }
        Failpoint.trap(subject)
        let value = await body()
        if isSuspect { clear(subject) }
        return value
    }

    /// Waits until the subject may be worked on.
    /// - Returns: Whether the subject is a suspect. The caller must then call `end()`.
    private func begin(_ subject: String) async -> Bool {
        var isSuspect = false
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                isSuspect = (1..<Self.limit).contains(state.counts[subject] ?? 0)
                guard isSuspect else { return true }
                guard state.isTrying else {
                    state.isTrying = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayGoOn { continuation.resume() }
        }
        return isSuspect
    }

    private func end() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            state.isTrying = next != nil
            return next
        }
        next?.resume()
    }

    private func clear(_ subject: String) {
        let left = state.withLock { state in
            state.counts[subject] = nil
            return state.counts
        }
        // If this fails, the suspect is tried alone once more after the next start.
        try? counts.write(left)
    }

    private func write(_ subject: String, at place: Int) {
        let bytes = Array(subject.utf8) + [UInt8](repeating: 0, count: Self.placeBytes - subject.utf8.count)
        // A failure is ignored: the work is then missing from the record after a trap.
        _ = pwrite(file, bytes, bytes.count, off_t(Self.head + place * Self.placeBytes))
    }

    /// Shortens a subject to the size of a record and replaces control characters, such as line breaks, by question marks.
    private static func cut(_ subject: String) -> String {
        let bytes = subject.utf8.lazy.map { $0 < 0x20 ? UInt8(ascii: "?") : $0 }.prefix(placeBytes - 8)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The file `crashes`. Its first line is the version that trapped. Each further line is a count and a suspect: `2 look
/// https://…`.
struct CrashCounts: Sendable {
    let path: String
    let version: String

    /// Reads the number of traps of each suspect.
    /// - Returns: An empty dictionary if the file does not exist, or another version or program wrote it.
    /// - Throws: `FileError` if the file exists and cannot be read.
    func read() throws(FileError) -> [String: Int] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try WholeFile.read(path, limit: 1 << 20)
        } catch {
            if error.errno == ENOENT { return [:] }
            throw error
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == version[...] else { return [:] }
        var counts: [String: Int] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let count = Int(parts[0]) { counts[String(parts[1])] = count }
        }
        return counts
    }

    func write(_ counts: [String: Int]) throws(FileError) {
        guard !counts.isEmpty else {
            if unlink(path) != 0, errno != ENOENT { throw FileError(operation: "remove", path: path, errno: errno) }
            return
        }
        let lines = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
        try AtomicFile.write(Array((version + "\n" + lines.joined()).utf8), to: path, mode: 0o600)
    }
}

/// Marks on threads and tasks that show which work answers a request.
///
/// A trap that ends the daemon is attributed to the work of the thread on which it happened (`CrashMarks`). The work for requests is therefore marked
/// everywhere: on the threads of event loops, in tasks, and on serial queues, which inherit the mark from their callers.
package enum AnsweringThread {
    /// Whether this task answers a request.
    @TaskLocal package static var isAnswering = false

    /// Marks the calling thread as one that answers requests for as long as it lives.
    package static func mark() { _ = clinux_answer_here(1) }

    /// Whether the calling thread, or its task, answers a request.
    package static var isCurrent: Bool { clinux_answers_here() != 0 || isAnswering }

    /// Runs work for a caller on another thread, with the mark of that caller.
    /// - Parameter isAnswer: The value of `isCurrent` where the work was submitted.
    package static func working<Value, Failure: Error>(
        isAnswer: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let before = clinux_answer_here(isAnswer ? 1 : 0)
        defer { _ = clinux_answer_here(before) }
        return try body()
    }
}
