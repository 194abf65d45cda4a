package import Model

/// An executor of the settings, on which jobs run.
package struct ExecutorSettings: Hashable, Sendable {
    /// The name of the machine's own executor, which always exists.
    package static let local = Name(nearest: "local")

    package var name: Name
    /// The cluster; `nil` for `local`.
    package var slurm: SlurmSettings?

    package init(name: Name, slurm: SlurmSettings? = nil) { (self.name, self.slurm) = (name, slurm) }
}

/// A cluster that Slurm manages: `slurm` of an executor.
package struct SlurmSettings: Hashable, Sendable {
    /// The partition; `nil` for the cluster's default.
    package var partition: String?
    package var account: String?
    /// The absolute path of a directory that the daemon and all nodes see at the same path. The state directory is in it.
    package var shared: String
    /// The absolute path of a directory of each node for workspaces. It is made if it does not exist.
    package var work: String
    /// Further options of `sbatch`.
    package var options: [String]
    /// The most jobs at one time at the cluster, waiting ones among them.
    package var jobs: Int
    /// How long a job may wait at the cluster.
    package var wait: Duration

    package init(
        partition: String? = nil, account: String? = nil, shared: String, work: String, options: [String] = [],
        jobs: Int = 64, wait: Duration = .seconds(86_400)
    ) {
        self.partition = partition
        self.account = account
        self.shared = shared
        self.work = work
        self.options = options
        self.jobs = jobs
        self.wait = wait
    }
}

/// A reader of `executors` of the settings.
enum ExecutorReader {
    /// The most executors, with `local`.
    static let maximumExecutors = 16
    static let maximumOptions = 32
    static let jobsRange = 1...10_000
    static let waitRange = Duration.seconds(60)...Duration.seconds(30 * 86_400)
    /// The options that Martlet sets itself, or that would break what it relies on (sbatch(1)).
    private static let reserved: Set<String> = [
        "array", "begin", "chdir", "comment", "error", "export", "export-file", "get-user-env", "hold", "input",
        "job-name",
        "no-requeue", "nodes", "ntasks", "open-mode", "output", "parsable", "quiet", "requeue", "test-only", "uid",
        "wait",
        "wrap",
    ]

    /// Reads `executors`, in their order. `local` is the first if it is not written.
    static func executors(
        _ node: YAMLNode?, state: String, _ diagnostics: inout Diagnostics
    ) -> [ExecutorSettings] {
        let local = ExecutorSettings(name: ExecutorSettings.local)
        guard let node else { return [local] }
        guard case .mapping(let entries) = node.content else {
            diagnostics.error(
                "`executors` is a mapping from a name to an executor, as in `cluster: { slurm: { … } }`, not \(node.kind)",
                at: node.position)
            return [local]
        }
        if entries.count > maximumExecutors {
            diagnostics.error("`executors` has at most \(maximumExecutors) executors", at: node.position)
            return [local]
        }
        var executors: [ExecutorSettings] = []
        for entry in entries {
            guard let name = Name(entry.key) else {
                diagnostics.error(Diagnostics.badName(entry.key, "executors"), at: entry.position)
                continue
            }
            let place = "the executor `\(name)`"
            if name == ExecutorSettings.local {
                // It has no keys: being written gives it its place in the order.
                if Fields(entry.value, [], of: place, &diagnostics) != nil { executors.append(local) }
                continue
            }
            guard let fields = Fields(entry.value, Keys.executor, of: place, &diagnostics) else { continue }
            guard let slurm = fields["slurm"] else {
                diagnostics.error(
                    "\(place) has no `slurm`; write `slurm: { shared: /srv/martlet, work: /var/tmp/martlet }`",
                    at: entry.position)
                continue
            }
            if let settings = self.slurm(slurm, of: place, state: state, &diagnostics) {
                executors.append(ExecutorSettings(name: name, slurm: settings))
            }
        }
        return executors.contains(local) ? executors : [local] + executors
    }

    /// Reads `default-executor`.
    static func preferred(
        _ node: YAMLNode?, among executors: [ExecutorSettings], _ diagnostics: inout Diagnostics
    ) -> Name? {
        guard let node, let name = diagnostics.name(node, "default-executor") else { return nil }
        guard diagnostics.hasErrors || executors.contains(where: { $0.name == name }) else {
            let names = executors.map(\.name.description)
            diagnostics.error(
                "`default-executor` names \(name), and there is only \(names.joined(separator: ", "))"
                    + Suggestion.hint(for: name.description, in: names), at: node.position)
            return nil
        }
        return name
    }

    private static func slurm(
        _ node: YAMLNode, of place: String, state: String, _ diagnostics: inout Diagnostics
    ) -> SlurmSettings? {
        guard let fields = Fields(node, Keys.slurm, of: "`slurm` of \(place)", &diagnostics) else { return nil }
        let shared = path(fields, "shared", of: place, &diagnostics)
        let work = path(fields, "work", of: place, &diagnostics)
        guard let shared, let work else { return nil }
        if state != shared, !state.hasPrefix(shared + "/") {
            diagnostics.error(
                "the nodes of \(place) read attempts and mirrors in the state directory, and \(state) is not in `shared`, "
                    + "\(shared); write `state: \(shared)/state`, or export \(state) to the nodes and name it as `shared`",
                at: fields.position(of: "shared"))
        }
        var settings = SlurmSettings(shared: shared, work: work)
        settings.partition = word(fields["partition"], "partition", &diagnostics)
        settings.account = word(fields["account"], "account", &diagnostics)
        settings.jobs = diagnostics.number(fields["jobs"], "jobs", within: jobsRange) ?? settings.jobs
        settings.wait = diagnostics.duration(fields["wait"], "wait", within: waitRange) ?? settings.wait
        settings.options = options(fields["options"], &diagnostics)
        return settings
    }

    private static func path(
        _ fields: Fields, _ key: String, of place: String, _ diagnostics: inout Diagnostics
    ) -> String? {
        guard let node = fields[key] else {
            diagnostics.error(
                "`slurm` of \(place) needs `\(key)`, an absolute path such as "
                    + (key == "shared" ? "/srv/martlet" : "/var/tmp/martlet"), at: fields.position(of: key))
            return nil
        }
        guard var text = diagnostics.line(node, key) else { return nil }
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        let components = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text.hasPrefix("/"), text.utf8.count <= 1024,
            !components.contains(where: { ["", ".", ".."].contains($0) })
        else {
            diagnostics.error(
                "`\(key)` is an absolute path without `..`, not \(Printable.quoted(text))", at: node.position)
            return nil
        }
        return text
    }

    /// Reads a name of a partition or an account. Slurm allows more; a comma would be a list.
    private static func word(_ node: YAMLNode?, _ key: String, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let text = diagnostics.line(node, key) else { return nil }
        guard isWord(text) else {
            diagnostics.error(
                "`\(key)` is one name of letters, digits, `.`, `_` and `-`, not \(Printable.quoted(text))",
                at: node.position)
            return nil
        }
        return text
    }

    /// Whether a text is a name that Slurm's options take as one word: at most 64 letters, digits, `.`, `_` and `-`.
    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "._-".utf8.contains($0)
            }
    }

    private static func options(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node, let items = diagnostics.items(node, "options") else { return [] }
        if items.count > maximumOptions {
            diagnostics.error("`options` has at most \(maximumOptions) options", at: node.position)
        }
        return items.compactMap { item in
            guard let text = diagnostics.line(item, "options") else { return nil }
            let name = text.dropFirst(2).prefix { $0 != "=" }
            guard text.hasPrefix("--"), isWord(String(name)), text.utf8.count <= 1024 else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not a long option of sbatch; write `--qos=ci`", at: item.position)
                return nil
            }
            // sbatch accepts the beginning of a name, too.
            guard !reserved.contains(where: { $0.hasPrefix(name) }) else {
                diagnostics.error(
                    "`--\(name)` is set by Martlet, or breaks what it relies on; remove it from `options`",
                    at: item.position)
                return nil
            }
            return text
        }
    }
}

/// A reader of `needs` of a configuration.
enum NeedsReader {
    static let cpusRange = 1...4096
    static let memoryRange = ByteCount.mebibytes(64)...ByteCount.gibibytes(16 << 10)
    static let timeRange = Duration.seconds(60)...Duration.seconds(7 * 86_400)
    static let maximumFeatures = 16

    static func needs(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> JobNeeds? {
        guard let node, let fields = Fields(node, Keys.needs, of: "`needs`", &diagnostics) else { return nil }
        var needs = JobNeeds()
        needs.cpus = diagnostics.number(fields["cpus"], "cpus", within: cpusRange)
        needs.memory = diagnostics.size(fields["memory"], "memory", within: memoryRange)
        needs.time = diagnostics.duration(fields["time"], "time", within: timeRange)
        needs.executor = diagnostics.name(fields["executor"], "executor")
        guard let features = fields["features"], let items = diagnostics.items(features, "features") else {
            return needs
        }
        if items.count > maximumFeatures {
            diagnostics.error("`features` has at most \(maximumFeatures) features", at: features.position)
        }
        needs.features = items.compactMap { item in
            guard let text = diagnostics.line(item, "features") else { return nil }
            guard ExecutorReader.isWord(text) else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not a feature: letters, digits, `.`, `_` and `-`, such as arm64",
                    at: item.position)
                return nil
            }
            return text
        }
        return needs
    }
}

extension ServiceSettings {
    /// The most integrations of one priority that run at once. They wait for slots, not for each other: one more than the jobs of all executors keeps
    /// the slots filled while another ends.
    package var runningIntegrations: Int { concurrency + executors.reduce(0) { $0 + ($1.slurm?.jobs ?? 0) } + 1 }
}
