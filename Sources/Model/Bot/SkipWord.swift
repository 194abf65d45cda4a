/// Words in a commit message by which its author asks not to integrate it, as supported by GitHub, GitLab and others.
package enum SkipWord {
    private static let words = ["[skip ci]", "[ci skip]", "[no ci]"]

    /// Returns the first of these words that a message contains, in any case; `nil` if there is none.
    package static func first(in message: String) -> String? {
        let message = message.lowercased()
        return words.first { message.contains($0) }
    }
}
