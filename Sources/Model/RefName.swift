/// The full name of a git ref, such as `refs/heads/main` or `refs/tags/1.4.0`. A tag and a branch of one name differ.
package struct RefName: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
    package init(branch: String) { description = "refs/heads/" + branch }
    package init(tag: String) { description = "refs/tags/" + tag }

    /// The branch's name without `refs/heads/`, or nothing when this is no branch.
    package var branch: String? { suffix(after: "refs/heads/") }

    /// The tag's name without `refs/tags/`, or nothing when this is no tag.
    package var tag: String? { suffix(after: "refs/tags/") }

    /// The name for people: the branch's or tag's, else the whole.
    package var shortName: String { branch ?? tag ?? description }

    package static func < (left: RefName, right: RefName) -> Bool { left.description < right.description }

    private func suffix(after prefix: String) -> String? {
        description.hasPrefix(prefix) ? String(description.dropFirst(prefix.count)) : nil
    }

    package init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
