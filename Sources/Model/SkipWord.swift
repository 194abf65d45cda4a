/// Words in a commit's message by which its author says that it need not be integrated, as GitHub, GitLab and others know them.
package enum SkipWord {
    private static let words = ["[skip ci]", "[ci skip]", "[no ci]"]

    /// The one that a message has, in any case of letters.
    package static func first(in message: String) -> String? {
        let message = message.lowercased()
        return words.first { message.contains($0) }
    }
}
