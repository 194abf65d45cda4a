extension ProjectType {
    /// The kind of project that a tree is, and why.
    package struct Recognition: Hashable, Sendable, Codable {
        package var type: ProjectType
        /// The file that tells it.
        package var marker: String
        /// Files of kinds that come later, and of those that have nothing to build or to test.
        package var passedOver: [String]
        /// The directory that it is in; `nil` is the root.
        package var directory: String?
        /// Whether the kind has no tests, as its files say. `nil` where it has some or may have, and in what an older version recorded.
        package var hasNoTests: Bool?
        /// Further kinds with tests, each of which is a configuration of its own. `nil` where there is none, and in what an older version
        /// recorded.
        package var others: [Other]?
        /// The test commands of the project's own CI. `nil` where none is known, and in what an older version recorded.
        package var ownCommands: [ProjectTree.OwnCommand]?
        /// The one of them that tests, where the usual commands find no test.
        package var test: ProjectTree.OwnCommand?

        /// A kind beside the first.
        package struct Other: Hashable, Sendable, Codable {
            package var type: ProjectType
            package var marker: String
            package var directory: String?
        }

        package init(type: ProjectType, marker: String, passedOver: [String] = []) {
            self.type = type
            self.marker = marker
            self.passedOver = passedOver
        }

        /// `Cargo project, by Cargo.toml (before Makefile)`.
        package var sentence: String {
            let before = passedOver.isEmpty ? "" : " (before \(passedOver.joined(separator: ", ")))"
            let beside = (others ?? []).map {
                "; and \($0.type.profile.title), by \(ProjectTree.path($0.marker, in: $0.directory))"
            }
            let own = test.map { "; tested by `\($0.command)`, as \($0.file) has it" } ?? ""
            return
                "\(type.profile.title), by \(ProjectTree.path(marker, in: directory))\(before)\(beside.joined())\(own)"
        }
    }

    /// The kinds of project in a tree; `nil` where no file tells one.
    ///
    /// The first kind with tests is the project. Without any it is the first that builds something, and without such a kind the first
    /// whose file is there. Other kinds with tests are `others`. Where the root has no kind with tests, its directories are looked into.
    package static func recognize(_ tree: ProjectTree) -> Recognition? {
        let root = allCases.compactMap { ProjectEvidence($0, in: tree) }
        var first = root.first(where: \.mayTest) ?? root.first(where: \.builds)
        var others = root.filter { $0.tests == true && $0 != first && !$0.type.isWrapper }
        if first?.mayTest != true {
            let below = inDirectories(of: tree)
            others += first == nil ? Array(below.dropFirst()) : below.filter { $0.tests == true }
            first = first ?? below.first
        }
        guard let first = first ?? root.first else { return byOwnCommand(tree) }
        others = oneOfEachLanguage(others, beside: first)
        var recognition = Recognition(type: first.type, marker: first.marker)
        recognition.directory = first.directory
        if !first.mayTest { recognition.hasNoTests = true }
        recognition.passedOver = root.filter { $0 != first && !others.contains($0) }.map(\.marker)
        if !others.isEmpty {
            recognition.others = others.map { .init(type: $0.type, marker: $0.marker, directory: $0.directory) }
        }
        guard !tree.ownCommands.isEmpty else { return recognition }
        recognition.ownCommands = tree.ownCommands
        if !first.mayTest, others.isEmpty { recognition.test = obviousCommand(tree) }
        return recognition
    }

    /// The command that tests a tree of no kind, or of a kind without tests: the only one that the project's own CI has.
    package static func obviousCommand(_ tree: ProjectTree) -> ProjectTree.OwnCommand? {
        let commands = Set(tree.ownCommands.map(\.command))
        guard commands.count == 1, let only = tree.ownCommands.first else { return nil }
        return isPlain(only.command, in: tree) ? only : nil
    }

    /// A tree without any kind's file is what its own CI tests by one command.
    private static func byOwnCommand(_ tree: ProjectTree) -> Recognition? {
        guard let command = obviousCommand(tree) else { return nil }
        var recognition = Recognition(type: .shell, marker: command.file)
        (recognition.ownCommands, recognition.test) = (tree.ownCommands, command)
        return recognition
    }

    /// The most kinds beside the first.
    static let maximumOthers = 7

    /// Two tools of one language in one directory build the same (`pom.xml` beside `build.gradle`): the first is enough.
    private static func oneOfEachLanguage(
        _ found: [ProjectEvidence], beside first: ProjectEvidence
    ) -> [ProjectEvidence] {
        var taken = [first]
        for evidence in found
        where !taken.contains(where: {
            $0.directory == evidence.directory && $0.type.language == evidence.type.language
        }) {
            taken.append(evidence)
        }
        return Array(taken.dropFirst().prefix(maximumOthers))
    }

    /// The first kind of each directory that has something to build or to test.
    private static func inDirectories(of tree: ProjectTree) -> [ProjectEvidence] {
        tree.directories.keys.sorted().compactMap { directory in
            guard ProjectTree.isSearched(directory), isPlainName(directory) else { return nil }
            let found = allCases.filter { $0 != .shell }.compactMap {
                ProjectEvidence($0, in: tree, directory: directory)
            }
            return found.first { $0.tests == true } ?? found.first(where: \.builds)
        }
    }

    /// Whether a directory's name can stand in a script and in a path's pattern as it is.
    private static func isPlainName(_ name: String) -> Bool {
        name.utf8.count <= 100 && !name.hasPrefix("-")
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }
    }

    /// Whether a command runs one program of the repository or a test tool, without anything that only its own CI has.
    private static func isPlain(_ command: String, in tree: ProjectTree) -> Bool {
        guard !command.contains(where: { "$`|&;<>(){}*\\\"'".contains($0) }) else { return false }
        let words = command.split(separator: " ")
        guard let program = words.first else { return false }
        if program.hasPrefix("./") { return tree.has(path: program.dropFirst(2)) }
        switch program {
        case "sh", "bash": return words.count > 1 && tree.has(path: words[1])
        case "make": return words.count == 2
        case "bats", "prove": return true
        default: return false
        }
    }
}

extension ProjectTree {
    /// Whether a file of the root, or of one of its directories, is there.
    fileprivate func has(path: Substring) -> Bool {
        let parts = (path.hasPrefix("./") ? path.dropFirst(2) : path).split(
            separator: "/", omittingEmptySubsequences: false)
        return switch parts.count {
        case 1: rootEntries.contains(String(parts[0]))
        case 2: directories[String(parts[0])]?.contains(String(parts[1])) ?? false
        default: false
        }
    }
}
