/// A key of one of the formats.
struct Key: Hashable, Sendable {
    let name: String
    /// Whether the key belongs to the designed format but is not supported by this version. It is refused with that message, never ignored.
    var isLater = false
    /// The name that replaced this one; `nil` for a current name. An old name is read like the new one, with a warning.
    var replacement: String?

    static func later(_ name: String) -> Key { Key(name: name, isLater: true) }

    static func old(_ name: String, now replacement: String) -> Key { Key(name: name, replacement: replacement) }
}

extension Key: ExpressibleByStringLiteral {
    init(stringLiteral name: String) { self.init(name: name) }
}

/// The keys of every mapping of the formats. The readers accept no others, and a test checks that the JSON schemas have the same keys.
enum Keys {
    static let settings: [Key] = [
        "listen", "url", "hosts", "proxies", "state", "bots", "concurrency", "secrets", "anonymous", "isolation",
        "sandbox", .old("fence", now: "sandbox"),
        "images",
        "user", "mail", "signing", "sign-in", "retention", "traces", "operator", "audit", "log", "executors",
        "default-executor", "certificates",
    ]
    static let executor: [Key] = ["slurm"]
    static let slurm: [Key] = ["partition", "account", "shared", "work", "options", "jobs", "wait"]
    static let `operator`: [Key] = ["mail", "webhook", "secret", "insecure"]
    static let log: [Key] = ["level", "requests"]
    static let signIn: [Key] = ["openid", "header", "from", "roles"]
    static let openID: [Key] = ["issuer", "client-id", "secret", "roles"]
    static let roles: [Key] = ["viewer", "operator", "admin"]
    static let roleRule: [Key] = ["who", "bots"]
    static let sandbox: [Key] = ["read-only", "memory", "processes", "workspace", "cpu-weight", "loopback"]
    static let bot: [Key] = [
        "repository", "insecure", "submodules", "lfs", "branches", "tags", "paths", "poll", "webhook", "schedule",
        "upgrades", "clean",
        "timeout",
        "log",
        "product", "public", "supersede", "triggers", "secrets", "status", "forge", "recipe", "pull-requests",
        "retention",
        .later("priority"),
        "notify",
    ]
    static let retention: [Key] = ["integrations", "age", "bytes", "files"]
    /// The keys of `retention` in the settings, which also limit what belongs to no single bot.
    static let serviceRetention: [Key] = retention + ["workspaces", "caches", "retired"]
    static let mail: [Key] = ["server", "from", "credentials", "insecure", "certificates"]
    static let traces: [Key] = ["endpoint", "authorization", "insecure"]
    static let notice: [Key] = ["name", "when", "branches", "tags", "mail", "authors", "webhook", "secret"]
    static let webhook: [Key] = ["secret"]
    static let status: [Key] = ["forge", "credentials", "api", "project", "comments"]
    static let paths: [Key] = ["include", "exclude"]
    static let schedule: [Key] = ["cron", "time-zone", "branches"]
    static let jobSecret: [Key] = ["name", "branches", "tags", "configurations", "steps"]
    static let trigger: [Key] = [
        "name", "phase", "branches", "tags", "when", "run", "sandbox", "publish", "upload", "credentials", "secrets",
        "timeout",
    ]
    static let publish: [Key] = ["version", "registry", .later("sign")]
    static let version: [Key] = ["file", "command"]
    static let recipe: [Key] = ["project", "configurations", "analyze", "archive"]
    static let configuration: [Key] = [
        "flags", "environment", "toolchain", "build", "test", "test-only", "steps", "report", "timeout", "network",
        "image", "needs",
        .later("architecture"), .later("sanitizer"),
    ]
    static let needs: [Key] = ["cpus", "memory", "features", "executor", "time"]
    /// The keys of a step that a recipe contains, besides its name and kind.
    private static let command: [Key] = [
        "run", "report", "environment", "timeout", "working-directory", "network", "secrets",
    ]
    static let step: [Key] = ["name", "step"] + command
    static let analysis: [Key] = ["name"] + command
    static let archive: [Key] = ["configuration", "include", "bundle"]

    /// Returns the names of the keys that this version reads, old names among them.
    static func names(_ keys: [Key]) -> [String] { keys.filter { !$0.isLater }.map(\.name) }

    /// Returns the names that messages suggest: those that this version reads, without old names.
    static func currentNames(_ keys: [Key]) -> [String] { names(keys.filter { $0.replacement == nil }) }
}
