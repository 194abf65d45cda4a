extension BotSpecification {
    /// Returns why the bot integrates no ref of its repository, and the line of the bot file that changes it; `nil` if it watches one of them.
    /// - Parameters:
    ///   - heads: The branches and tags that the repository lists, at least one.
    ///   - defaultBranch: The branch that its HEAD names; `nil` if there is none.
    package func whyUnwatched(
        heads: some Collection<RefName>, defaultBranch: RefName?
    ) -> (text: String, remedy: String)? {
        guard !heads.contains(where: { watches($0, defaultBranch: defaultBranch) }) else { return nil }
        let listed = heads.compactMap(\.branch).sorted()
        let shown = listed.prefix(5).joined(separator: ", ") + (listed.count > 5 ? ", …" : "")
        let example = listed.first(where: { ["main", "master", "trunk"].contains($0) }) ?? listed.first ?? "main"
        let isPlain = example.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-/".utf8.contains(byte)
        }
        let remedy = "write `branches: [\(isPlain ? example : "\"\(example)\"")]` into \(name).yml"
        if listed.isEmpty {
            return ("the repository lists tags and no branch", "push a branch, or write `tags: ['*']` into \(name).yml")
        }
        if let branches {
            let wanted = branches.map(\.description).joined(separator: ", ")
            return ("the repository lists no branch that `branches: [\(wanted)]` matches; it has \(shown)", remedy)
        }
        return (
            "HEAD of the repository leads to no branch that exists, so it has no default branch; it has \(shown)",
            remedy + ", or correct HEAD on the server: `git symbolic-ref HEAD refs/heads/\(example)`"
        )
    }
}
