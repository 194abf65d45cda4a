extension ProjectType {
    /// The recognized type of a project, and the reason.
    package struct Recognition: Hashable, Sendable, Codable {
        package var type: ProjectType
        /// The file by which it was recognized.
        package var marker: String
        /// The marker files of later types, and of types without anything to build or to test.
        package var passedOver: [String]
        /// The directory of the project; `nil` means the root.
        package var directory: String?
        /// Whether the project's files show that it has no tests. `nil` if it has or may have some, and in records of an older version.
        package var hasNoTests: Bool?
        /// Further types with tests, each of which gets its own configuration. `nil` if there are none, and in records of an older version.
        package var others: [Other]?
        /// The test commands of the project's own CI. `nil` if none is known, and in records of an older version.
        package var ownCommands: [ProjectTree.OwnCommand]?
        /// The one of them that is used for testing because the usual commands find no tests.
        package var test: ProjectTree.OwnCommand?

        /// A further type beside the first.
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

        /// The recognition as text: `Cargo project, by Cargo.toml (before Makefile)`.
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

    /// Recognizes the types of projects in a tree.
    ///
    /// The project's type is the first with tests. If there is none, it is the first that builds something, or else the first whose file exists.
    /// Further types with tests are in `others`. If no type in the root has tests, the directories of the root are searched.
    /// - Returns: `nil` if no file identifies a type and the project's own CI does not have exactly one plain test command.
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

    /// Returns the only test command of the project's own CI, for a tree without a type or a type without tests. `nil` if there is none or more than
    /// one, or if it is not plain.
    package static func obviousCommand(_ tree: ProjectTree) -> ProjectTree.OwnCommand? {
        let commands = Set(tree.ownCommands.map(\.command))
        guard commands.count == 1, let only = tree.ownCommands.first else { return nil }
        return isPlain(only.command, in: tree) ? only : nil
    }

    /// Recognizes a tree without any marker file by the only test command of its own CI.
    private static func byOwnCommand(_ tree: ProjectTree) -> Recognition? {
        guard let command = obviousCommand(tree) else { return nil }
        var recognition = Recognition(type: .shell, marker: command.file)
        (recognition.ownCommands, recognition.test) = (tree.ownCommands, command)
        return recognition
    }

    /// The largest number of types beside the first.
    static let maximumOthers = 7

    /// Returns one type for each language and directory: two tools of one language in one directory build the same (`pom.xml` beside `build.gradle`).
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

    /// Returns, for each directory, the first type that has something to build or to test. Types with tests are preferred.
    private static func inDirectories(of tree: ProjectTree) -> [ProjectEvidence] {
        tree.directories.keys.sorted().compactMap { directory in
            guard ProjectTree.isSearched(directory), isPlainName(directory) else { return nil }
            let found = allCases.filter { $0 != .shell }.compactMap {
                ProjectEvidence($0, in: tree, directory: directory)
            }
            return found.first { $0.tests == true } ?? found.first(where: \.builds)
        }
    }

    /// Whether a directory's name can be used unquoted in a script and in a path pattern.
    private static func isPlainName(_ name: String) -> Bool {
        name.utf8.count <= 100 && !name.hasPrefix("-")
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }
    }

    /// Whether a command runs one program of the repository or a test tool, without anything that only the project's CI has.
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
    /// Whether a file exists in the root or in one of its directories.
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
