import JobProtocol

/// A line of /proc/self/cgroup (cgroups(7)): `4:memory:/a/b`, or `0::/a/b` for version 2.
struct Membership {
    let controllers: [String]
    let path: String

    static func all() -> [Membership] {
        let bytes = SmallFile.read("/proc/self/cgroup", limit: 1 << 20) ?? []
        return bytes.split(separator: 0x0A).compactMap { line in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard parts.count == 3 else { return nil }
            return Membership(
                controllers: parts[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init),
                path: parts[2])
        }
    }
}

/// A line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
enum Mount {
    /// Returns the directory where a control group is mounted.
    /// - Parameters:
    ///   - path: The group's path from /proc/self/cgroup.
    ///   - option: The mounted controller; `nil` for version 2.
    /// - Returns: `nil` if no mount shows the group.
    static func directory(of path: String, type: String, option: String?) -> String? {
        let bytes = SmallFile.read("/proc/self/mountinfo", limit: 16 << 20) ?? []
        for line in bytes.split(separator: 0x0A) {
            let fields = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
            guard let dash = fields.firstIndex(of: "-"), fields.count > dash + 3, fields[dash + 1] == type,
                option.map({ fields[dash + 3].split(separator: ",").map(String.init).contains($0) }) ?? true
            else { continue }
            // In a container the mount can begin in the middle of the tree.
            let (root, point) = (fields[3], fields[4])
            if root == "/" { return path == "/" ? point : point + path }
            if path == root { return point }
            if path.hasPrefix(root + "/") { return point + path.dropFirst(root.count) }
        }
        return nil
    }
}
