import CLinux
import Glibc
import JobProtocol

/// Keeps a workspace within its limits of bytes and files without a quota, which would need root.
///
/// The file system's own count (statvfs(3)) takes microseconds and serves as an alarm. It includes other files, so a walk through the workspace
/// decides. Walks are divided into slices, between which the step's output is read. They are rare enough to take a twentieth of a processor.
final class WorkspaceWatch {
    /// The time in milliseconds before the first check. Shorter steps are not checked.
    private static let firstMilliseconds: Int64 = 500
    /// How often the file system's count is read, in milliseconds.
    private static let askMilliseconds: Int64 = 250
    /// The time between a step's first two walks, in milliseconds. It doubles with each walk, up to the longest time. These walks find what raises no
    /// alarm, such as deeply nested directories.
    private static let shortestMilliseconds: Int64 = 2000
    private static let longestMilliseconds: Int64 = 60_000
    private static let sliceMilliseconds: Int64 = 4
    /// The pause between two slices, in milliseconds. A walk then takes a tenth of the processor.
    private static let restMilliseconds: Int64 = 36
    /// The pause after a walk, as a multiple of its processor time; at most `LimitWatch.longestRest`.
    private static let restFactor: Int64 = 20
    /// The deepest level of directories. Real packages (nested node_modules) have about 40 levels at most.
    static let levelLimit = 256

    private struct Use {
        var bytes: Int64 = 0
        var files: Int64 = 0
    }

    private let tree: Tree
    /// The home directory, which counts with the workspace; it is on the same file system.
    private let home: Tree?
    private let device: dev_t
    private let limits: JobDescription.Limits
    private let isSandboxed: Bool
    /// See `LimitWatch.sparing`.
    var sparing: Set<Int32> = []
    /// The file system's use when the job began, and when the last complete walk and the present one began. An unfinished walk says nothing about
    /// what was written before it.
    private let atStart: Use
    private var atWalk: Use
    private var atPresentWalk: Use
    /// The result of the last complete walk.
    private var found: Use?
    private var walk: WorkspaceWalk?
    /// The earliest times of the next walk, without and with an alarm.
    private var nextWalk: Int64 = 0
    private var nextAlarmedWalk: Int64 = 0
    private var pause = shortestMilliseconds
    private(set) var nextLook: Int64 = 0

    init(tree: Tree, home: Tree?, limits: JobDescription.Limits, isSandboxed: Bool) {
        self.tree = tree
        self.home = home
        var status = stat()
        device = fstat(tree.descriptor, &status) == 0 ? status.st_dev : 0
        self.limits = limits
        self.isSandboxed = isSandboxed
        atStart = Self.use(of: tree)
        atWalk = atStart
        atPresentWalk = atStart
    }

    /// The words for the limit of a single file, wherever it is. The kernel's limit also applies to files in `/tmp` (RLIMIT_FSIZE).
    var fileWords: String { "one file over \(Words.size(limits.workspaceBytes))" }
    private var byteWords: String { "workspace over \(Words.size(limits.workspaceBytes))" }

    /// The reason if the file system has less free space than every job must leave; otherwise `nil`. It does not matter which job is at fault: a walk
    /// counts only this job, and takes too long.
    var fullDiskWords: String? { DiskRoom(of: tree.descriptor)?.shortage.map { "disk full: \($0)" } }

    func begin(now: Int64) {
        nextLook = now + Self.firstMilliseconds
        pause = Self.shortestMilliseconds / 2
        nextWalk = now + Self.shortestMilliseconds
    }

    /// Does at most one slice of a walk.
    /// - Returns: The exceeded limit in words; `nil` if there is none.
    func look(now: Int64) -> String? {
        if walk == nil {
            nextLook = now + Self.askMilliseconds
            guard found == nil || now >= nextWalk || now >= nextAlarmedWalk && isAlarming() else { return nil }
            beginWalk()
        }
        walk?.go(until: now + Self.sliceMilliseconds)
        nextLook = now + Self.sliceMilliseconds + Self.restMilliseconds
        let words = judge()
        if walk?.isComplete ?? false { finishWalk(now) }
        return words
    }

    /// Walks to the end if the step could have written too much since the last walk.
    /// - Returns: The exceeded limit in words; `nil` if there is none.
    func lookAtEnd() -> String? {
        guard isAlarming() else { return nil }
        beginWalk()
        while let walk, !walk.isComplete {
            walk.go(until: Time.monotonicMilliseconds() + Self.sliceMilliseconds)
            if let words = judge() { return words }
        }
        finishWalk(Time.monotonicMilliseconds())
        return nil
    }

    /// Returns whether the workspace could exceed a limit if all growth of the file system was in it.
    private func isAlarming() -> Bool {
        let now = Self.use(of: tree)
        let (bytes, files) = (max(0, now.bytes - atWalk.bytes), max(0, now.files - atWalk.files))
        let (byteLimit, fileLimit) = (limits.workspaceBytes, Int64(limits.workspaceFiles))
        guard let found else { return bytes > byteLimit / 8 || files > fileLimit / 8 }
        return found.bytes + bytes > byteLimit || found.files + files > fileLimit
    }

    private func beginWalk() {
        atPresentWalk = Self.use(of: tree)
        walk = WorkspaceWalk([tree, home].compactMap(\.self))
    }

    private func finishWalk(_ now: Int64) {
        guard let walk else { return }
        found = Use(bytes: walk.bytes, files: walk.files)
        atWalk = atPresentWalk
        // A file system that does not count its files (Btrfs) raises no alarm for them.
        pause = atWalk.files > 0 ? min(pause * 2, Self.longestMilliseconds) : Self.shortestMilliseconds
        nextWalk = now + max(pause, min(walk.cost * Self.restFactor, LimitWatch.longestRest))
        nextAlarmedWalk = now + min(walk.cost * 2, LimitWatch.longestRest)
        nextLook = now + Self.askMilliseconds
        self.walk = nil
    }

    private func judge() -> String? {
        guard let walk else { return nil }
        if walk.bytes > limits.workspaceBytes { return byteWords }
        if walk.files > limits.workspaceFiles {
            return "workspace over \(Words.number(Int64(limits.workspaceFiles))) files"
        }
        if walk.isTooDeep { return "workspace over \(Self.levelLimit) levels of directories" }
        // The walk misses unnamed files and unreadable files. Unnamed files are searched for after each walk, because deletions by others can hide
        // the file system's growth. For unreadable files only that growth is known.
        guard walk.isComplete else { return nil }
        let deleted = DeletedFiles.bytes(on: device, sparing: sparing, isSandboxed: isSandboxed)
        if walk.bytes + deleted.bytes > limits.workspaceBytes { return byteWords }
        guard walk.hasHidden || !deleted.isWhole else { return nil }
        return Self.use(of: tree).bytes - atStart.bytes > limits.workspaceBytes ? byteWords : nil
    }

    private static func use(of tree: Tree) -> Use {
        var status = statvfs()
        guard fstatvfs(tree.descriptor, &status) == 0 else { return Use() }
        return Use(
            bytes: Int64(clamping: status.f_blocks - status.f_bfree) * Int64(status.f_frsize),
            files: Int64(clamping: status.f_files) - Int64(clamping: status.f_ffree))
    }
}
