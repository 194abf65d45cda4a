/// The difference between two readings of the settings, by key.
package enum SettingsChange {
    /// The keys that a running service applies. A change of another key needs a restart.
    package static let applied: Set<String> = ["concurrency", "retention", "audit", "log", "operator"]

    /// Returns the keys whose values differ, in the order of their names.
    package static func keys(from old: ServiceSettings, to new: ServiceSettings) -> [String] {
        comparisons.filter { !$0.isSame(old, new) }.map(\.key).sorted()
    }

    /// A comparison for each key of the settings.
    static let comparisons: [(key: String, isSame: @Sendable (ServiceSettings, ServiceSettings) -> Bool)] = [
        ("listen", { $0.listen == $1.listen }), ("url", { $0.url == $1.url }), ("hosts", { $0.hosts == $1.hosts }),
        ("proxies", { $0.proxies == $1.proxies }), ("state", { $0.state == $1.state }),
        ("bots", { $0.bots == $1.bots }),
        ("concurrency", { $0.concurrency == $1.concurrency }), ("secrets", { $0.secrets == $1.secrets }),
        ("anonymous", { $0.anonymous == $1.anonymous }), ("isolation", { $0.isolation == $1.isolation }),
        ("sandbox", { $0.sandbox == $1.sandbox }), ("images", { $0.images == $1.images }),
        ("user", { $0.user == $1.user }), ("mail", { $0.mail == $1.mail }), ("signing", { $0.signing == $1.signing }),
        ("retention", { $0.retention == $1.retention && $0.caches == $1.caches }),
        ("sign-in", { $0.signIn == $1.signIn }),
        ("traces", { $0.traces == $1.traces }), ("operator", { $0.operators == $1.operators }),
        ("executors", { $0.executors == $1.executors }),
        ("default-executor", { $0.defaultExecutor == $1.defaultExecutor }),
        ("audit", { $0.auditAge == $1.auditAge }), ("log", { $0.log == $1.log }),
        ("certificates", { $0.certificates == $1.certificates }),
    ]
}
