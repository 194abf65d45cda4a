import CLinux
import Glibc
import JobProtocol

/// Copies what a job left, after its last process is gone: regular files with one name only, within limits. A link, a
/// pipe, a device or a file with a second name could stand for something outside the workspace; it is passed over, and the
/// log says so.
struct Collector {
    /// Of the files that were passed over, so many are named.
    private static let complaintLimit = 100

    let source: Tree
    let destination: Tree
    /// `reports/0`, `artifacts`.
    let place: String
    /// What the limits are called: `reports`, `artifacts`.
    let noun: String
    let byteLimit: Int64
    let fileLimit: Int
    /// What is copied is masked by it: reports, which the service reads and shows. Nothing: the bytes are copied as they are, as those
    /// of products.
    let redactor: LogRedactor?
    let isStopped: () -> Bool

    /// What was written.
    private(set) var bytes: Int64 = 0
    private(set) var files = 0
    private(set) var complaints: [String] = []
    /// The limit that was reached, in words.
    private(set) var limit: String?
    /// What went wrong on our side, or two files of one name.
    private(set) var problem: String?
    private var taken: [[UInt8]: [UInt8]] = [:]
    /// Directories of the destination in which something was made.
    private var changed: Set<[UInt8]> = []

    init(
        source: Tree, destination: Tree, place: String, noun: String, byteLimit: Int64, fileLimit: Int,
        bytes: Int64 = 0, files: Int = 0, redactor: LogRedactor? = nil, isStopped: @escaping () -> Bool
    ) {
        self.source = source
        self.destination = destination
        self.place = place
        self.noun = noun
        self.byteLimit = byteLimit
        self.fileLimit = fileLimit
        self.bytes = bytes
        self.files = files
        self.redactor = redactor
        self.isStopped = isStopped
    }

    mutating func collect(_ patterns: [String], base: String = "") {
        let parsed = patterns.compactMap { PathPattern($0) }
        guard !parsed.isEmpty else { return }
        let stripped = base.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        let prefix = stripped.isEmpty ? [] : Array((stripped + "/").utf8)
        let (unreadable, isOverLimit) = source.walk(parsed) { path, directory, name in
            let target = path.starts(with: prefix) ? Array(path.dropFirst(prefix.count)) : path
            take(path, directory, name, as: target)
            return limit == nil && problem == nil && !isStopped()
        }
        synchronizeNames()
        for path in unreadable { complain("a directory cannot be read", path) }
        if isOverLimit { limit = "workspace over \(Tree.entryLimit) entries" }
    }

    /// Says in the log what was passed over, and what ended the copying.
    func tell(_ log: inout JobLog) {
        for complaint in complaints { log.say(complaint) }
        if let limit { log.say(limit) }
        if let problem { log.say(problem) }
    }

    private mutating func complain(_ what: String, _ path: [UInt8]) {
        note("\(String(decoding: path, as: UTF8.self)) was not copied: \(what)")
    }

    private mutating func note(_ line: String) {
        if complaints.count == Self.complaintLimit { complaints.append("more files were not copied, or masked") }
        if complaints.count < Self.complaintLimit { complaints.append(line) }
    }

    private mutating func take(_ path: [UInt8], _ directory: Int32, _ name: [UInt8], as target: [UInt8]) {
        if let other = taken[target] {
            guard other != path else { return }
            problem = "two \(noun) are named \(String(decoding: target, as: UTF8.self))"
            return
        }
        // Looked at before it is opened, since opening a device can do something. Nothing runs any more that could swap it.
        var status = stat()
        guard Tree.withPath(name, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return }
        guard isPlain(status, path) else { return }
        if let redactor, redactor.finds(in: target) {
            // The log's own masking hides it there.
            return complain("its name holds a secret", path)
        }
        let input = Tree.withPath(name) {
            clinux_openat(directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0)
        }
        guard input >= 0 else { return complain(String(cString: strerror(errno)), path) }
        defer { close(input) }
        guard fstat(input, &status) == 0, isPlain(status, path) else { return }
        guard files < fileLimit else {
            limit = "\(noun) over \(fileLimit) files"
            return
        }
        guard Int64(status.st_size) <= byteLimit - bytes else {
            limit = "\(noun) over \(Words.size(byteLimit))"
            return
        }
        files += 1
        taken[target] = path
        copy(path, input, to: Array((place + "/").utf8) + target, isExecutable: status.st_mode & 0o100 != 0)
    }

    private mutating func isPlain(_ status: stat, _ path: [UInt8]) -> Bool {
        switch status.st_mode & S_IFMT {
        case S_IFREG where status.st_nlink == 1: return true
        case S_IFREG: complain("it has \(status.st_nlink) names", path)
        case S_IFLNK: complain("it is a link", path)
        default: complain("it is no regular file", path)
        }
        return false
    }

    private mutating func copy(_ path: [UInt8], _ input: Int32, to target: [UInt8], isExecutable: Bool) {
        let parent = target[..<(target.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        if let error = destination.makeDirectories(Array(parent)) { return fail(error, target) }
        let output: Int32
        switch destination.open(target, O_WRONLY | O_CREAT | O_EXCL, mode: isExecutable ? 0o755 : 0o644) {
        case .failure(let error): return fail(error, target)
        case .success(let descriptor): output = descriptor
        }
        // Those above it too, up to the attempt's own, which its last word needs anyway.
        var above = parent
        while !above.isEmpty, changed.insert(Array(above)).inserted {
            above = above[..<(above.lastIndex(of: UInt8(ascii: "/")) ?? above.startIndex)]
        }
        defer { close(output) }
        guard let redactor else { return transfer(input, output, target) }
        mask(input, output, path, target, redactor)
    }

    private mutating func transfer(_ input: Int32, _ output: Int32, _ target: [UInt8]) {
        while true {
            let count = clinux_copy_file_range(input, output, 1 << 24)
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return fail(SystemError(number: errno), target) }
            guard counts(count) else { return }
        }
        if fdatasync(output) != 0 { fail(SystemError(number: errno), target) }
    }

    /// So many bytes are in memory at a time.
    private static let chunkBytes = 256 * 1024

    /// The same with secrets masked. What has a NUL in its first bytes is no text, as for git: its length stays as it is.
    private mutating func mask(
        _ input: Int32, _ output: Int32, _ path: [UInt8], _ target: [UInt8], _ redactor: LogRedactor
    ) {
        var redactor = redactor
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var shown: [UInt8] = []
        var isFirst = true
        while true {
            let count = read(input, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return fail(SystemError(number: errno), target) }
            if isFirst, chunk[..<count].contains(0) { redactor = redactor.forBinary }
            isFirst = false
            shown.removeAll(keepingCapacity: true)
            chunk.withUnsafeBytes { redactor.redact(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &shown) }
            if count == 0 { shown += redactor.finish() }
            guard counts(shown.count) else { return }
            let failure = shown.withUnsafeBytes { Descriptor.writeAll($0, to: output) }
            guard failure == 0 else { return fail(SystemError(number: failure), target) }
            if count == 0 { break }
        }
        if redactor.hasMasked { note("secrets in \(String(decoding: path, as: UTF8.self)) were masked") }
        if fdatasync(output) != 0 { fail(SystemError(number: errno), target) }
    }

    /// Whether there is room for so many bytes more.
    private mutating func counts(_ count: Int) -> Bool {
        bytes += Int64(count)
        if bytes > byteLimit { limit = "\(noun) over \(Words.size(byteLimit))" }
        return bytes <= byteLimit
    }

    /// The files' bytes are on the disk; their names and those of their directories follow, all at once.
    private mutating func synchronizeNames() {
        for path in changed.sorted(by: { $0.count > $1.count }) where problem == nil {
            guard case .success(let directory) = destination.open(path, O_RDONLY | O_DIRECTORY) else {
                return fail(SystemError(number: errno), path)
            }
            defer { close(directory) }
            if fsync(directory) != 0 { fail(SystemError(number: errno), path) }
        }
        changed = []
    }

    private mutating func fail(_ error: SystemError, _ target: [UInt8]) {
        problem = "copying to \(String(decoding: target, as: UTF8.self)) failed: \(error.text)"
    }
}
