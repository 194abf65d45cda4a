import CLinux
import Glibc
import JobProtocol

/// Ends a job that uses up what the kernel counts for all processes of a user, or of the machine, so that none is left for the service and other
/// jobs.
///
/// A check tries to allocate one more, which takes some microseconds. Only if that fails are the job's own counted. A job that holds more than half
/// of the limit is ended immediately, and one that holds more than a quarter if the shortage lasts.
final class UserShare {
    /// Counted per user, except `machineDescriptors`, which counts for all users but root.
    private enum Kind: CaseIterable {
        case pipes, epollWatches, inotifyInstances, inotifyWatches, machineDescriptors

        /// The bit in `clinux_exhausted_shares`; `machineDescriptors` is read from /proc.
        var bit: Int32 {
            switch self {
            case .pipes: Int32(CLINUX_SHARE_PIPES)
            case .epollWatches: Int32(CLINUX_SHARE_EPOLL)
            case .inotifyInstances: Int32(CLINUX_SHARE_INOTIFY)
            case .inotifyWatches: Int32(CLINUX_SHARE_WATCHES)
            case .machineDescriptors: 1 << 8
            }
        }

        var noun: String {
            switch self {
            case .pipes: "pipes"
            case .epollWatches: "watches of epoll"
            case .inotifyInstances: "instances of inotify"
            case .inotifyWatches: "watches of inotify"
            case .machineDescriptors: "open files"
            }
        }

        /// The kernel's limit for all processes of the user; `nil` if it has none.
        var limit: Int64? {
            switch self {
            // The setting is in pages. A pipe takes 16 of them, and the system call filter allows none to be larger.
            case .pipes: UserShare.setting("pipe-user-pages-soft").map { $0 * 4096 / UserShare.pipeBytes }
            case .epollWatches: UserShare.setting("epoll/max_user_watches")
            case .inotifyInstances: UserShare.setting("inotify/max_user_instances")
            case .inotifyWatches: UserShare.setting("inotify/max_user_watches")
            case .machineDescriptors: UserShare.setting("file-max")
            }
        }
    }

    private static let pipeBytes: Int64 = 65_536
    private static let askMilliseconds: Int64 = 250
    /// How long a shortage must last until a quarter of the limit is too much, and until a job is ended whose processes hide their descriptors
    /// (prctl(2), PR_SET_DUMPABLE).
    private static let secondStageMilliseconds: Int64 = 2000
    private static let hiddenMilliseconds: Int64 = 5000
    /// The machine's descriptors are watched from this fraction on, because counting needs descriptors.
    private static let descriptorParts: (of: Int64, alarm: Int64) = (4, 3)
    /// The most instances that are compared. Further ones may be counted several times, once for each process that inherited them.
    private static let comparedLimit = 256

    private let isSandboxed: Bool
    /// See `LimitWatch`.
    var sparing: Set<Int32> = []
    private(set) var nextLook: Int64 = 0
    private var exhaustedSince: Int64?

    init(isSandboxed: Bool) { self.isSandboxed = isSandboxed }

    func begin(now: Int64) {
        nextLook = now + 2 * Self.askMilliseconds
        exhaustedSince = nil
    }

    /// Checks for a shortage.
    /// - Returns: A limit if the job took too much. A fault if all are used up and the job's part cannot be counted, since other processes may have
    ///   taken them. `nil` otherwise.
    func look(now: Int64) -> LimitWatch.Finding? {
        nextLook = now + Self.askMilliseconds
        let exhausted = Self.exhausted()
        guard exhausted != 0 else {
            exhaustedSince = nil
            return nil
        }
        let since = exhaustedSince ?? now
        exhaustedSince = since
        let parts: Int64 = now - since < Self.secondStageMilliseconds ? 2 : 4
        let limits = Kind.allCases.filter { exhausted & $0.bit != 0 }.compactMap { kind in kind.limit.map { (kind, $0) }
        }
        let begun = Time.workedMilliseconds()
        let holding = holding { held in limits.contains { held[$0.0, default: 0] > $0.1 / parts } }
        nextLook = now + max(Self.askMilliseconds, min(4 * (Time.workedMilliseconds() - begun), LimitWatch.longestRest))
        for (kind, limit) in limits {
            if holding.counts[kind, default: 0] > limit / parts {
                return .limit(
                    "more than \(Words.number(limit / parts)) of the \(Words.number(limit)) \(kind.noun) that all jobs share"
                )
            }
            // Instances of inotify are often scarce on a desktop, and the service works without them.
            let isVital = kind != .inotifyInstances && kind != .inotifyWatches
            if isVital, !holding.isWhole, now - since >= Self.hiddenMilliseconds {
                return .fault(
                    "all \(kind.noun) that jobs share are taken, and what the job holds of them cannot be counted: one of its processes hides what it has open"
                )
            }
        }
        return nil
    }

    private static func exhausted() -> Int32 {
        var exhausted = clinux_exhausted_shares()
        let numbers = String(decoding: SmallFile.read("/proc/sys/fs/file-nr", limit: 128) ?? [], as: UTF8.self)
            .split { $0 == "\t" || $0 == "\n" || $0 == " " }.compactMap { Int64($0) }
        // Allocated, free, limit (proc_sys_fs(5)).
        if numbers.count == 3, numbers[0] / descriptorParts.alarm > numbers[2] / descriptorParts.of {
            exhausted |= Kind.machineDescriptors.bit
        }
        return exhausted
    }

    private static func setting(_ name: String) -> Int64? {
        let bytes = SmallFile.read("/proc/sys/fs/" + name, limit: 64) ?? []
        return Int64(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    private struct Holding {
        var counts: [Kind: Int64] = [:]
        /// Whether every living process showed its descriptors.
        var isWhole = true
        var pipes: Set<String> = []
        var instances: [(process: Int32, descriptor: Int32)] = []

        /// Whether it is a descriptor of an instance that was already counted.
        mutating func isKnown(_ process: Int32, _ descriptor: Int32) -> Bool {
            if instances.contains(where: { clinux_is_same_file($0.process, $0.descriptor, process, descriptor) != 0 }) {
                return true
            }
            if instances.count < UserShare.comparedLimit { instances.append((process, descriptor)) }
            return false
        }
    }

    /// Counts what the job holds.
    /// - Parameter isEnough: Returns whether counting can stop.
    private func holding(until isEnough: ([Kind: Int64]) -> Bool) -> Holding {
        var holding = Holding()
        for process in ProcessTable.descendants(of: getpid(), except: sparing) where process.isAlive {
            guard case .success(let tree) = Tree.open("/proc/\(process.pid)/fd") else {
                let isHidden = errno == EACCES || errno == EPERM
                if isHidden, !(isSandboxed && OpenFiles.holdsSandbox(process.pid)) { holding.isWhole = false }
                continue
            }
            for name in Tree.names(in: tree.descriptor) {
                add(name, of: process.pid, in: tree, to: &holding)
                if isEnough(holding.counts) { return holding }
            }
        }
        return holding
    }

    private func add(_ name: String, of process: Int32, in tree: Tree, to holding: inout Holding) {
        guard let descriptor = Int32(name) else { return }
        holding.counts[.machineDescriptors, default: 0] += 1
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = readlinkat(tree.descriptor, name, &buffer, buffer.count)
        let target = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        if target.hasPrefix("pipe:"), holding.pipes.insert(target).inserted { holding.counts[.pipes, default: 0] += 1 }
        let isWatch = target == "anon_inode:inotify"
        guard isWatch || target == "anon_inode:[eventpoll]", !holding.isKnown(process, descriptor) else { return }
        if isWatch { holding.counts[.inotifyInstances, default: 0] += 1 }
        holding.counts[isWatch ? .inotifyWatches : .epollWatches, default: 0] +=
            clinux_count_watches(process, descriptor)
    }
}

/// A job's part of limits that the kernel counts by user and can enforce within a job's own user namespace (Linux 5.14 and newer).
extension UserShare {
    /// RLIMIT_SIGPENDING: a sixteenth of the user's limit, at least 1,024. Every timer takes one (timer_create(2)).
    static var pendingSignals: Int { Int(clamping: max(1024, clinux_most_pending_signals() / 16)) }

    /// RLIMIT_MSGQUEUE in bytes: Linux's default for a user, or a quarter of the user's limit if that is less.
    static var messageBytes: Int { Int(clamping: min(819_200, clinux_most_message_bytes() / 4)) }
}
