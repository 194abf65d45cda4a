/// Which of a bot's integrations are kept. Without any limits all are kept.
package struct Retention: Hashable, Sendable, Codable {
    /// The value of one key.
    package enum Limit: Hashable, Sendable, Codable {
        /// Written as `off`: the limit of the settings does not apply.
        case off
        case most(Int64)

        package var value: Int64? {
            switch self {
            case .off: nil
            case .most(let value): value
            }
        }
    }

    /// The number of newest integrations that are kept.
    package var integrations: Limit?
    /// The age limit, in seconds since the integration's end.
    package var age: Limit?
    /// The size limit of the files of all its integrations together, in bytes.
    package var bytes: Limit?
    /// The limit of files and directories of all its integrations together.
    package var files: Limit?

    package init(integrations: Limit? = nil, age: Limit? = nil, bytes: Limit? = nil, files: Limit? = nil) {
        self.integrations = integrations
        self.age = age
        self.bytes = bytes
        self.files = files
    }

    /// Returns these limits, with those of `others` for missing keys.
    package func over(_ others: Retention) -> Retention {
        Retention(
            integrations: integrations ?? others.integrations, age: age ?? others.age, bytes: bytes ?? others.bytes,
            files: files ?? others.files)
    }

    /// Whether there is any limit.
    package var isAnything: Bool { [integrations, age, bytes, files].contains { $0?.value != nil } }
}
