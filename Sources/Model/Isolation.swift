/// What kept a job from the machine that it ran on.
package enum Isolation: Hashable, Sendable, CustomStringConvertible {
    /// Namespaces of its own, a small read-only root, no network but where a step has it.
    case sandbox
    /// Nothing: the job had all rights of the service's user. Why, in a sentence.
    case none(reason: String)

    /// As settings and job files have it.
    package var word: String {
        switch self {
        case .sandbox: "sandbox"
        case .none: "none"
        }
    }

    /// Why there was none; nothing where there was.
    package var reason: String? {
        if case .none(let reason) = self { reason } else { nil }
    }

    /// `sandbox`, `none: the reason`; `init(_:)` reads it back.
    package var description: String { reason.map { "none: \($0)" } ?? word }

    /// Nothing for a text that `description` never is.
    package init?(_ text: String) {
        switch text {
        case "sandbox": self = .sandbox
        case _ where text.hasPrefix("none: "): self = .none(reason: String(text.dropFirst("none: ".count)))
        default: return nil
        }
    }
}
