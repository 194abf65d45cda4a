/// How a job was isolated from the machine that it ran on.
package enum Isolation: Hashable, Sendable, CustomStringConvertible {
    /// The job had its own namespaces, a small read-only root, and a network only in steps that have one.
    case sandbox
    /// The job had all rights of the service's user. The reason is a sentence.
    case none(reason: String)

    /// The word in settings and job files.
    package var word: String {
        switch self {
        case .sandbox: "sandbox"
        case .none: "none"
        }
    }

    /// Why the job was not isolated; `nil` if it was.
    package var reason: String? {
        if case .none(let reason) = self { reason } else { nil }
    }

    /// `sandbox`, or `none: ` and the reason. `init(_:)` parses it.
    package var description: String { reason.map { "none: \($0)" } ?? word }

    /// Parses a `description`.
    /// - Returns: `nil` if the text is not one.
    package init?(_ text: String) {
        switch text {
        case "sandbox": self = .sandbox
        case _ where text.hasPrefix("none: "): self = .none(reason: String(text.dropFirst("none: ".count)))
        default: return nil
        }
    }
}
