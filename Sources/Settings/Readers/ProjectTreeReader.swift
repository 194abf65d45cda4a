package import Model

extension ProjectTree {
    /// Reads the files that determine the kinds of project of a tree, within the limits of `ProjectTree`. Unreadable files are left out.
    ///
    /// For example, for a directory: `ProjectTree(rootEntries: names) { try? list($0) } text: { try? read($0, limit: $1) }`
    /// - Parameters:
    ///   - names: Returns the names in a directory, whose path is relative to the root; `nil` if there is no such directory.
    ///   - text: Returns the bytes of a regular file of at most `limit` bytes; `nil` if there is none. Links are not followed.
    package init(
        rootEntries: [String], names: (_ directory: String) -> [String]?,
        text: (_ path: String, _ limit: Int) -> [UInt8]?
    ) {
        self.init(rootEntries: rootEntries)
        var (left, room) = (Self.maximumTexts, Self.maximumSize)
        func read(_ path: String) -> String? {
            guard left > 0, room > 0, let bytes = text(path, min(room, Self.maximumTextSize)) else { return nil }
            left -= 1
            room -= bytes.count
            return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        }
        func readTexts(_ names: [String], in directory: String?) {
            for name in names.sorted() where Self.textNames.contains(name) {
                let path = directory.map { "\($0)/\(name)" } ?? name
                texts[path] = read(path)
                if name == "package.json" || name == "composer.json" {
                    scripts[path] = texts[path].flatMap(OwnCommandReader.scripts)
                }
            }
        }
        readTexts(rootEntries, in: nil)
        ownCommands = OwnCommandReader.commands(rootEntries, names: names, text: read)
        // A name with an ending is nearly always a file, and querying each takes time.
        let candidates = rootEntries.filter { Self.isSearched($0) && !$0.contains(".") }.sorted()
        var namesRoom = Self.maximumNamesSize
        for directory in candidates.prefix(Self.maximumDirectories) {
            guard let found = names(directory) else { continue }
            let taken = found.prefix(Self.maximumNames).prefix { name in
                namesRoom -= name.utf8.count
                return namesRoom >= 0
            }
            directories[directory] = Array(taken)
            readTexts(directories[directory] ?? [], in: directory)
        }
        let isShallow = Self.batsDirectories.contains { Self.hasBats(directories[$0] ?? []) }
        if !isShallow, !Self.hasBats(rootEntries) { readBats(names) }
    }

    /// Searches the subdirectories of the usual test directories for bats tests.
    private mutating func readBats(_ names: (_ directory: String) -> [String]?) {
        for parent in Self.batsDirectories {
            let candidates = (directories[parent] ?? []).filter {
                !$0.contains(".") && !Self.batsLeavesOut.contains($0)
            }
            for name in candidates.sorted().prefix(Self.maximumBatsDirectories) {
                guard let found = names("\(parent)/\(name)"), Self.hasBats(found) else { continue }
                directories["\(parent)/\(name)"] = found.filter { $0.hasSuffix(".bats") }.sorted()
                return
            }
        }
    }
}

extension ProjectTree {
    /// A reader that uses the functions passed to it.
    package static let reader: Reader = { ProjectTree(rootEntries: $0, names: $1, text: $2) }
}

/// A reader of the test commands that a project's own CI runs. It reads only enough of the files to name the commands.
enum OwnCommandReader {
    /// The most commands that are kept. `maximumCommandSize` is the most bytes of one.
    static let maximumCommands = 16
    static let maximumCommandSize = 200
    /// The most workflow files that are read.
    static let maximumWorkflows = 12

    /// Returns the test commands, each once, in the order of the files.
    /// - Parameters:
    ///   - names: Returns the names in a directory.
    ///   - text: Returns the text of a file.
    static func commands(
        _ rootEntries: [String], names: (String) -> [String]?, text: (String) -> String?
    ) -> [ProjectTree.OwnCommand] {
        var files: [String] = []
        if rootEntries.contains(".github") {
            let found = (names(ProjectTree.workflows) ?? []).filter { $0.hasSuffix(".yml") || $0.hasSuffix(".yaml") }
            files += found.sorted().prefix(maximumWorkflows).map { "\(ProjectTree.workflows)/\($0)" }
        }
        files += rootEntries.filter(ProjectTree.ownNames.contains).sorted()
        var found: [ProjectTree.OwnCommand] = []
        for file in files {
            guard let text = text(file) else { continue }
            for line in lines(of: text, in: file) where isTest(line) && !found.contains(where: { $0.command == line }) {
                guard found.count < maximumCommands else { return found }
                found.append(.init(file: file, command: line))
            }
        }
        return found
    }

    /// Returns the `scripts` of a package.json or composer.json; `nil` if it cannot be parsed. It uses the YAML parser, since nearly all such JSON is
    /// valid YAML.
    static func scripts(_ text: String) -> [String: String]? {
        var diagnostics = Diagnostics(file: "package.json")
        guard let root = YAMLParser.parse(text, &diagnostics), !diagnostics.hasErrors, case .mapping = root.content
        else {
            return nil
        }
        guard let scripts = root["scripts"], case .mapping(let entries) = scripts.content else { return [:] }
        var found: [String: String] = [:]
        for entry in entries {
            switch entry.value.content {
            case .scalar(let text, _): found[entry.key] = text
            // Composer also allows lists of commands.
            case .sequence(let items): found[entry.key] = items.compactMap(\.text).joined(separator: "\n")
            case .mapping: break
            }
        }
        return found
    }

    private static func lines(of text: String, in file: String) -> [String] {
        let lines: [String] =
            switch file {
            case "tox.ini": toxLines(text)
            case "noxfile.py":
                text.matches(of: /session\.run\(([^()]*)\)/).map { match in
                    match.output.1.matches(of: /["']([^"']*)["']/).map { String($0.output.1) }.joined(separator: " ")
                }
            case "justfile", "Justfile":
                text.split(separator: "\n").filter { $0.utf8.count <= maximumCommandSize }.compactMap { line in
                    line.prefixMatch(of: /@?(test[a-z-]*|check)( [^:]*)?:(?!=)/).map { "just \($0.output.1)" }
                }
            default: yamlLines(text)
            }
        return lines.map { $0.trimmed }.filter { !$0.isEmpty && $0.utf8.count <= maximumCommandSize }
    }

    /// Returns the lines of `commands` in `[testenv]`.
    private static func toxLines(_ text: String) -> [String] {
        var found: [String] = []
        var (isSection, isValue) = (false, false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("[") {
                (isSection, isValue) = (line.hasPrefix("[testenv]"), false)
            } else if isSection, line.hasPrefix("commands"), let equals = line.firstIndex(of: "=") {
                isValue = line[..<equals].trimmed == "commands"
                if isValue { found.append(String(line[line.index(after: equals)...])) }
            } else if let first = line.first, !first.isWhitespace {
                isValue = false
            } else if isValue {
                found.append(String(line))
            }
        }
        return found.map { $0.replacing(/\{posargs:?([^{}]*)\}/) { String($0.output.1) } }
    }

    /// Returns the lines of each `run` and `script`, wherever they are in the file.
    private static func yamlLines(_ text: String) -> [String] {
        var diagnostics = Diagnostics(file: "")
        guard let root = YAMLParser.parse(text, &diagnostics), !diagnostics.hasErrors else { return [] }
        var found: [String] = []
        func visit(_ node: YAMLNode) {
            switch node.content {
            case .scalar: break
            case .sequence(let items): items.forEach(visit)
            case .mapping(let entries):
                for entry in entries {
                    if ["run", "script"].contains(entry.key) { found += commandLines(entry.value) }
                    visit(entry.value)
                }
            }
        }
        visit(root)
        return found
    }

    /// Returns the lines of a script. A line that ends with a backslash is joined with the next one. No regular expression runs over the whole text:
    /// searching for the blanks before a backslash would take time quadratic in their number.
    private static func joined(_ lines: [Substring]) -> [String] {
        var found: [String] = []
        var begun = ""
        for line in lines {
            begun += line.trimmed
            if begun.hasSuffix("\\"), begun.utf8.count <= maximumCommandSize {
                begun = begun.dropLast().trimmed + " "
            } else {
                found.append(begun)
                begun = ""
            }
        }
        return begun.isEmpty ? found : found + [begun]
    }

    private static func commandLines(_ node: YAMLNode) -> [String] {
        switch node.content {
        case .scalar(let text, _):
            joined(text.split(separator: "\n"))
        case .sequence(let items): items.flatMap(commandLines)
        case .mapping: []
        }
    }

    /// Returns whether a line runs tests: its program, or one of its first six words, contains a word for tests. Lines that set up, print or upload
    /// do not count.
    static func isTest(_ line: String) -> Bool {
        let words = line.split(whereSeparator: \.isWhitespace).drop { $0.contains("=") || $0 == "sudo" || $0 == "-" }
        guard let program = words.first, !others.contains(String(program)) else { return false }
        if words.contains(where: { ["install", "apt-get", "pip", "pip3", "update", "clone", "upload"].contains($0) }) {
            return false
        }
        return words.prefix(6).contains { word in
            word.lowercased().split { !$0.isLetter }.contains { part in
                testWords.contains { part == $0 } || part.hasSuffix("test") || part.hasSuffix("tests")
            }
        }
    }

    private static let testWords: Set<String> = [
        "test", "tests", "check", "tox", "nox", "bats", "prove", "rspec", "busted", "testing", "spec", "phpunit",
    ]
    private static let others: Set<String> = [
        "echo", "cd", "mkdir", "export", "cp", "mv", "rm", "cat", "curl", "wget", "git", "if", "for", "docker", "set",
        "source", ".", "ls",
        "tar", "unzip", "codecov", "#",
    ]
}

extension YAMLNode {
    fileprivate subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    fileprivate var text: String? { if case .scalar(let text, _) = content { text } else { nil } }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
