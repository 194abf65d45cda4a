import Model

/// A reader of the settings' `sandbox`.
enum SandboxReader {
    /// The most paths. A job's sandbox has at most 64 paths, including those that the service adds.
    static let maximumPaths = 32
    /// The allowed number of processes. A build cannot start with fewer than 16, and more than the kernel's usual `pid_max` are impossible (proc(5)).
    static let processesRange = 16...32_768
    static let memoryRange = ByteCount.mebibytes(64)...ByteCount.gibibytes(16 << 10)
    /// The range of the kernel's `cpu.weight` (cgroup-v2, "CPU Interface Files").
    static let cpuWeightRange = 1...10_000
    static let workspaceRange = ByteCount.mebibytes(64)...ByteCount.gibibytes(16 << 10)
    /// The directories that each sandbox has of its own, so the machine's cannot be shown in them.
    private static let taken = ["/proc", "/dev", "/sys", "/tmp", "/martlet"]

    static func sandbox(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> SandboxSettings {
        var sandbox = SandboxSettings()
        guard let node, let fields = Fields(node, Keys.sandbox, of: "`sandbox`", &diagnostics) else { return sandbox }
        sandbox.readOnly = paths(fields["read-only"], &diagnostics)
        sandbox.memory = diagnostics.size(fields["memory"], "memory", within: memoryRange) ?? sandbox.memory
        sandbox.processes =
            diagnostics.number(fields["processes"], "processes", within: processesRange) ?? sandbox.processes
        sandbox.workspace =
            diagnostics.size(fields["workspace"], "workspace", within: workspaceRange) ?? sandbox.workspace
        sandbox.cpuWeight = diagnostics.number(fields["cpu-weight"], "cpu-weight", within: cpuWeightRange)
        sandbox.loopback = diagnostics.truth(fields["loopback"], "loopback")
        return sandbox
    }

    private static func paths(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node, let items = diagnostics.items(node, "read-only") else { return [] }
        if items.count > maximumPaths {
            diagnostics.error(
                "`read-only` has more than \(maximumPaths) paths; name a directory above them", at: node.position)
            return []
        }
        var paths: [String] = []
        for item in items {
            guard var text = diagnostics.line(item, "read-only") else { continue }
            while text.count > 1, text.hasSuffix("/") { text.removeLast() }
            let components = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            guard text.hasPrefix("/"), !components.contains(where: { ["", ".", ".."].contains($0) }) else {
                let hint =
                    text == "/" ? "`/` would show jobs the whole machine; name the directories that jobs need" : nil
                diagnostics.error(
                    hint ?? "`read-only` has absolute paths without `..`, not \(Printable.quoted(text))",
                    at: item.position)
                continue
            }
            if let place = taken.first(where: { text == $0 || text.hasPrefix($0 + "/") }) {
                diagnostics.error("each job has a \(place) of its own; name another path", at: item.position)
                continue
            }
            paths.append(text)
        }
        return paths
    }
}
