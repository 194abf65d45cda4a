import Foundation
import Glibc
import JobProtocol

/// Things that a job may leave behind: processes, mounts, control groups, temporary files. All of them must be gone within 15 s of its end,
/// whichever process was killed meanwhile.
struct Leftovers {
    let service: Service
    /// The process namespace of the supervisors whose groups are searched.
    var namespace = Leftovers.ownNamespace
    /// The number of newest integrations of each bot that are searched. Leftovers of older ones were found after their own end.
    private static let newest = 3
    /// The number of entries of one directory tree that are searched.
    private static let entryLimit = 20_000

    /// Waits until nothing is left, at most 15 s.
    /// - Returns: What is left after that time, in words.
    func awaitNone() -> [String] {
        var left: [String] = []
        _ = Moment.until(limit: 15, pause: 50, isScaled: false) {
            left = now()
            return left.isEmpty
        }
        return left
    }

    /// Returns what is left at this moment.
    func now() -> [String] { processes() + mounts() + groups() + files() }

    // MARK: Processes and mounts

    /// Returns the running processes that name our state in any way, except the daemon, the launcher and supervisors that wait for a job.
    private func processes() -> [String] {
        let own = [getpid(), service.pid, service.launcher ?? 0]
        return ProcessTable.all().filter { $0.isAlive && !own.contains($0.pid) }.compactMap { entry in
            let line = Self.text("/proc/\(entry.pid)/cmdline")
            // A waiting supervisor has nothing of any job, and exits with its launcher.
            if line.hasPrefix("martlet-supervisor --wait"), entry.parent == service.launcher { return nil }
            let places = ["cwd", "root"].map { Self.link("/proc/\(entry.pid)/\($0)") }
            let words = [line, Self.text("/proc/\(entry.pid)/environ")] + places
            let isOurs =
                words.contains { $0.contains(service.state) } || line.contains(service.root + "/etc/")
                || entry.parent == service.launcher
            return isOurs ? "process \(entry.pid) is left: \(line)" : nil
        }
    }

    /// Returns the mounts of our state in any namespace: this process's, the daemon's, the launcher's or another one's.
    private func mounts() -> [String] {
        var seen: Set<String> = []
        var left: [String] = []
        let inside = placeInFileSystem(service.root)
        for entry in ProcessTable.all() {
            let namespace = Self.link("/proc/\(entry.pid)/ns/mnt")
            guard !namespace.isEmpty, seen.insert(namespace).inserted else { continue }
            for line in Self.text("/proc/\(entry.pid)/mountinfo").split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 4 else { continue }
                let (root, point) = (String(fields[3]), String(fields[4]))
                if Self.isBeneath(root, inside) || Self.isBeneath(point, service.root) {
                    left.append("mount \(point) of \(root) is left at process \(entry.pid)")
                }
            }
        }
        return left
    }

    private static func isBeneath(_ path: String, _ parent: String) -> Bool {
        path == parent || path.hasPrefix(parent + "/")
    }

    /// Returns a path as mountinfo names it: relative to its file system (proc_pid_mountinfo(5)).
    private func placeInFileSystem(_ path: String) -> String {
        var best = (root: "/", point: "/")
        for line in Self.text("/proc/self/mountinfo").split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count > 4, fields[4] == "/" || Self.isBeneath(path, fields[4]),
                fields[4].utf8.count >= best.point.utf8.count
            else { continue }
            best = (fields[3], fields[4])
        }
        let rest = best.point == "/" ? path : String(path.dropFirst(best.point.utf8.count))
        return best.root == "/" ? rest : best.root + rest
    }

    // MARK: Control groups

    /// Returns the control groups of our supervisors, which have their names, at the places where the launcher may make any.
    private func groups() -> [String] {
        let ours = supervisors()
        return groupPlaces().flatMap { place in
            Self.names(in: place).filter(ours.contains).map { "control group \(place)/\($0) is left" }
        }
    }

    /// Returns the names of the groups of all supervisors whose attempts are searched. A lock names its holder after the end too.
    func supervisors() -> Set<String> {
        Set(
            jobs().flatMap { job in
                Self.names(in: job).compactMap { LockContent(Self.text("\(job)/\($0)/lock")) }.map {
                    "martlet-job-\($0.pid)-\($0.startTime)-\(namespace)"
                }
            })
    }

    private static var ownNamespace: UInt64 {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Returns, for each hierarchy, the launcher's group and the one above it if the launcher made one for itself.
    func groupPlaces() -> Set<String> {
        // The daemon's groups of these kinds are those of the launcher, which may not run now.
        let launcher = service.launcher ?? service.pid
        guard launcher > 0 else { return [] }
        let mounts = Self.text("/proc/self/mountinfo").split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        var places: Set<String> = []
        for line in Self.text("/proc/\(launcher)/cgroup").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { continue }
            let controllers = parts[1].split(separator: ",").map(String.init)
            let mount = mounts.first { fields in
                guard let end = fields.firstIndex(of: "-"), fields.count > end + 3 else { return false }
                let options = fields[end + 3].split(separator: ",").map(String.init)
                return controllers.isEmpty
                    ? fields[end + 1] == "cgroup2"
                    : fields[end + 1] == "cgroup" && controllers.allSatisfy(options.contains)
            }
            guard let mount, parts[2].hasPrefix(mount[3]) else { continue }
            let path = mount[3] == "/" ? parts[2] : String(parts[2].dropFirst(mount[3].utf8.count))
            let place = mount[4] + (path == "/" ? "" : path)
            places.insert(place)
            if path != "/" { places.insert((place as NSString).deletingLastPathComponent) }
        }
        return places
    }

    // MARK: Files

    /// Returns files that exist while others are written, and files that belong only to jobs.
    private func files() -> [String] {
        var left: [String] = []
        let state = service.state
        for place in [service.temporary, state + "/staging", state + "/integrations/.removed"] {
            left += Self.names(in: place).map { "\(place)/\($0) is left" }
        }
        for job in jobs() {
            // Attempts, and directories beside them that exist while one works.
            left += Self.names(in: job).filter { Int($0) == nil }.map { "\(job)/\($0) is left" }
            for attempt in Self.names(in: job) where Int(attempt) != nil {
                let place = "\(job)/\(attempt)"
                left += Self.names(in: place).filter { !Self.attempt.contains($0) }.map {
                    "\(place)/\($0) is left"
                }
                left += temporary(in: place)
            }
        }
        for workspace in workspaces() {
            if workspace.contains("/fork/") { left.append("\(workspace) is left, of a fork") }
            let names = Self.names(in: workspace)
            left += names.filter { !Self.workspace.contains($0) }.map { "\(workspace)/\($0) is left" }
            left += Self.names(in: workspace + "/tmp").map { "\(workspace)/tmp/\($0) is left" }
            left += temporary(in: workspace)
        }
        left += Self.names(in: state).filter(Self.isTemporary).map { "\(state)/\($0) is left" }
        for place in [state + "/files", state + "/repositories", service.root + "/uploads"] {
            left += temporary(in: place)
        }
        return left
    }

    /// The names in an attempt's directory: `AttemptPaths`, the compressed log, and the output of a version's command.
    private static let attempt: Set<String> = [
        "job.json", "lock", "status.jsonl", "log", "log.index", "log.zst", "cancel", "reports", "artifacts", "archives",
        "printed", "tracked", "left-out",
    ]
    /// The names in a workspace: `Workspace`, and the jobs' temporary directory.
    private static let workspace: Set<String> = ["tree", "checkout", "warnings.json", "mounted", "cleaned", "tmp"]

    /// Returns the directories of the newest integrations' jobs.
    private func jobs() -> [String] {
        let root = service.state + "/integrations"
        return Self.names(in: root).filter { !$0.hasPrefix(".") }.flatMap { bot in
            Self.names(in: "\(root)/\(bot)").compactMap { Int($0) }.sorted().suffix(Self.newest).flatMap { number in
                Self.names(in: "\(root)/\(bot)/\(number)").map { "\(root)/\(bot)/\(number)/\($0)" }
            }
        }
    }

    /// Returns the directories `workspaces/BOT/CONFIGURATION/DOMAIN/SLOT`.
    private func workspaces() -> [String] {
        (0..<4).reduce([service.state + "/workspaces"]) { places, _ in
            places.flatMap { place in Self.names(in: place).map { "\(place)/\($0)" } }
        }
    }

    private func temporary(in directory: String) -> [String] {
        guard let files = FileManager.default.enumerator(atPath: directory) else { return [] }
        return files.prefix(Self.entryLimit).compactMap { $0 as? String }.filter {
            Self.isTemporary(($0 as NSString).lastPathComponent)
        }.map { "\(directory)/\($0) is left" }
    }

    /// Whether a name is one that the sources give to an unfinished file: `Directory.temporaryName`, `PrivateSocket`, `log.zst.part`, names of
    /// uploads, a trigger's directory, packs of an interrupted fetch, `GitScratch` and `LocalObjects`.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".martlet-")
            || [".tmp-", "tmp_", "pack_git2", ".gone-"].contains(where: name.hasPrefix)
            || [".part", ".work", ".temp"].contains(where: name.hasSuffix)
            || name.hasPrefix(".") && name.contains(".part-")
            || ["martlet-git", "martlet-linking", ".socket"].contains(name)
    }

    private static func names(in directory: String) -> [String] {
        // A missing directory, or a file, has no entries.
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    private static func text(_ path: String) -> String {
        String(
            decoding: (FileManager.default.contents(atPath: path) ?? Data()).map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
    }

    private static func link(_ path: String) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
    }
}
