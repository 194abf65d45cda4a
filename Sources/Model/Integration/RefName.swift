/// The full name of a git ref, such as `refs/heads/main` or `refs/tags/1.4.0`. A tag and a branch of the same name are different.
///
/// Names are compared and sorted by their bytes, as in git. `é` as one character and as `e` with a combining accent are two refs in git, but equal as
/// a Swift `String`.
package struct RefName: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
    package init(branch: String) { description = "refs/heads/" + branch }
    package init(tag: String) { description = "refs/tags/" + tag }

    /// The branch's name without `refs/heads/`; `nil` if this is not a branch.
    package var branch: String? { suffix(after: "refs/heads/") }

    /// The tag's name without `refs/tags/`; `nil` if this is not a tag.
    package var tag: String? { suffix(after: "refs/tags/") }

    /// Creates the ref of a pull request's integrations: the merge of its base and its head. Martlet uses this name for every forge; it need not
    /// exist in any repository.
    package init(pullRequest number: Int) { description = "refs/pull/\(number)/merge" }

    /// The pull request's number; `nil` if this is not the ref of a pull request's integrations.
    package var pullRequest: Int? {
        guard let rest = suffix(after: "refs/pull/"), rest.hasSuffix("/merge") else { return nil }
        return Int(rest.dropLast("/merge".count)).flatMap { RefName(pullRequest: $0) == self ? $0 : nil }
    }

    /// The name for display: the branch's or tag's name, `pull/12`, or else the full name.
    package var shortName: String { branch ?? tag ?? pullRequest.map { "pull/\($0)" } ?? description }

    package static func == (left: RefName, right: RefName) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    package static func < (left: RefName, right: RefName) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var description = description
        description.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the name after a prefix, or `nil` if it does not have the prefix. Compares bytes: in a `String` a combining accent after the slash
    /// would belong to the slash, but in git it belongs to the name.
    private func suffix(after prefix: StaticString) -> String? {
        guard
            description.utf8.starts(with: UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
        else { return nil }
        return String(description.utf8.dropFirst(prefix.utf8CodeUnitCount))
    }

    package init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
