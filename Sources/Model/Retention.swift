/// What of a bot's integrations is kept. Nothing written: all of them.
package struct Retention: Hashable, Sendable, Codable {
    /// One of its keys.
    package enum Limit: Hashable, Sendable, Codable {
        /// Written as `off`: what the settings say does not count here.
        case off
        case most(Int64)

        package var value: Int64? {
            switch self {
            case .off: nil
            case .most(let value): value
            }
        }
    }

    /// So many of the newest are kept.
    package var integrations: Limit?
    /// In seconds since its end.
    package var age: Limit?
    /// Of all its integrations' files together.
    package var bytes: Limit?
    /// Files and directories of all its integrations together.
    package var files: Limit?

    package init(integrations: Limit? = nil, age: Limit? = nil, bytes: Limit? = nil, files: Limit? = nil) {
        self.integrations = integrations
        self.age = age
        self.bytes = bytes
        self.files = files
    }

    /// Key by key what is written here, and where nothing is, what `others` say.
    package func over(_ others: Retention) -> Retention {
        Retention(
            integrations: integrations ?? others.integrations, age: age ?? others.age, bytes: bytes ?? others.bytes,
            files: files ?? others.files)
    }

    /// Whether anything is removed at all.
    package var isAnything: Bool { [integrations, age, bytes, files].contains { $0?.value != nil } }
}
