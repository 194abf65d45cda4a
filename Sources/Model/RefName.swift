/// The full name of a git ref, such as `refs/heads/main` or `refs/tags/1.4.0`. A tag and a branch of one name differ.
///
/// Names are compared and sorted by their bytes, as git does: `é` as one character and as `e` with an accent are two refs there,
/// and one `String` in Swift.
package struct RefName: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
    package init(branch: String) { description = "refs/heads/" + branch }
    package init(tag: String) { description = "refs/tags/" + tag }

    /// The branch's name without `refs/heads/`, or nothing when this is no branch.
    package var branch: String? { suffix(after: "refs/heads/") }

    /// The tag's name without `refs/tags/`, or nothing when this is no tag.
    package var tag: String? { suffix(after: "refs/tags/") }

    /// What is integrated of a pull request: the merge of its base and its head. The name is ours, the same for every forge; in no
    /// repository anything has to be there.
    package init(pullRequest number: Int) { description = "refs/pull/\(number)/merge" }

    /// The pull request's number, or nothing when this is not what is integrated of one.
    package var pullRequest: Int? {
        guard let rest = suffix(after: "refs/pull/"), rest.hasSuffix("/merge") else { return nil }
        return Int(rest.dropLast("/merge".count)).flatMap { RefName(pullRequest: $0) == self ? $0 : nil }
    }

    /// The name for people: the branch's or tag's, `pull/12`, else the whole.
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

    /// By bytes too: an accent right after the slash belongs to it for `String`, and to the name for git.
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
