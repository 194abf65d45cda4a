import Glibc
import JobProtocol
import TestSupport
import Testing

/// This machine's control groups.
enum ControlGroups {
    /// Returns the groups that a supervisor left after its exit. Other tests' jobs have their own.
    static func left(by supervisor: LockContent?) -> [String] {
        guard let supervisor else { return [] }
        return directories().filter { $0.contains("/martlet-job-\(supervisor.pid)-\(supervisor.startTime)-") }
    }

    private static func directories() -> [String] {
        guard let found = popen("find /sys/fs/cgroup -type d -name 'martlet-job-*' 2>/dev/null", "r") else { return [] }
        defer { pclose(found) }
        let bytes = SmallFile.read(fileno(found), limit: 1 << 20) ?? []
        return bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether this process's jobs get control groups: as root with version 1, or in a delegated subtree.
    static let areOurs: Bool = {
        guard let supervisor = try? TestTools.builtProduct("martlet-supervisor"),
            let found = popen("\(supervisor) --probe-fence", "r")
        else { return false }
        defer { pclose(found) }
        let finding = try? SandboxFinding(json: (SmallFile.read(fileno(found), limit: 4096) ?? []).dropLast())
        return finding.map { $0.limits != .rlimit } ?? false
    }()
}

extension Trait where Self == ConditionTrait {
    /// Skips the test if jobs get no control group.
    static var controlGroups: Self { .enabled(if: ControlGroups.areOurs, "no control groups that are ours") }
}
