/// The rules, as functions of text, so that each can be shown a text that breaks it.
enum Rules {
    /// The toolchain's own modules, which any target may import, except for `withoutFoundation`.
    static let system: Set<String> = [
        "Swift", "Foundation", "FoundationEssentials", "Glibc", "Dispatch", "Synchronization",
        "PackageDescription",
    ]

    /// Model is values only; Encodings, JobProtocol, Redaction, Processes and Reports are in the small static programs.
    static let withoutFoundation: Set<String> = [
        "Model", "Encodings", "JobProtocol", "Redaction", "Processes", "Reports", "martlet-supervisor", "martlet-tools",
        "martlet-reader",
    ]

    /// Modules whose types are in the interface of a product. A target that may import the product may import them, because MemberImportVisibility
    /// makes it necessary.
    static let carried: [String: Set<String>] = [
        "Hummingbird": ["HTTPTypes", "HummingbirdCore"], "Subprocess": ["SystemPackage"],
        "ServiceLifecycle": ["UnixSignals"],
    ]

    static let adapters = ["Settings", "Storage", "SourceControl", "Execution", "Reports", "Archives", "Transfer"]

    /// The longest file, in lines.
    static let longestFile = 400

    static func imports(of text: String) -> [(line: Int, module: String)] {
        let pattern =
            #/
            ^\s*(?:@[\w()]+\s+)*(?:package\s|public\s|internal\s|private\s|fileprivate\s)?import\s
            (?:(?:struct|class|enum|protocol|func|let|var|typealias)\s)?(\w+)
            /#
        // A script in a literal has imports of its own language.
        var isLiteral = false
        return lines(of: text).compactMap { number, line in
            if !line.ranges(of: "\"\"\"").count.isMultiple(of: 2) { isLiteral.toggle() }
            return isLiteral ? nil : line.firstMatch(of: pattern).map { (number, String($0.1)) }
        }
    }

    static func importViolations(in target: String, text: String, table: ImportTable) -> [(line: Int, message: String)]
    {
        guard let allowed = table.rows[target] else {
            return [(1, "\(target) has no row in docs/internals/architecture.md")]
        }
        return imports(of: text).compactMap { line, module in
            if module.hasPrefix("Foundation"), withoutFoundation.contains(target) {
                return (line, "\(target) may not import \(module)")
            }
            if allowed.contains(where: { carried[$0]?.contains(module) ?? false }) { return nil }
            if system.contains(module) || allowed.contains(module) { return nil }
            return (line, "\(target) may not import \(module): see the table in docs/internals/architecture.md")
        }
    }

    /// Returns the differences between the table and the manifest.
    static func manifestViolations(table: ImportTable, manifest: Manifest, folders: Set<String>) -> [String] {
        var violations: [String] = []
        for (target, allowed) in table.rows.sorted(by: { $0.key < $1.key }) {
            guard let declared = manifest.targets[target], folders.contains(target) else {
                violations.append("the table's \(target) is no target")
                continue
            }
            for module in allowed.subtracting(declared).sorted() {
                violations.append("the table lets \(target) import \(module), which Package.swift does not give it")
            }
            for module in declared.subtracting(allowed).sorted() {
                violations.append("Package.swift gives \(target) \(module), which the table does not let it import")
            }
        }
        for folder in folders.sorted() where table.rows[folder] == nil && !folder.hasPrefix("C") {
            violations.append("\(folder) has no row in docs/internals/architecture.md")
        }
        return violations
    }

    /// Returns shared declarations without a doc comment.
    ///
    /// Stored and computed properties with clear names need none. Nor do initializers that only set the properties and neither fail nor throw, and
    /// members that a protocol of the standard library documents.
    static func undocumented(in text: String) -> [Int] {
        let all = lines(of: text)
        let modifiers = "(?:static |final |mutating |convenience |indirect |nonisolated |override |required )*"
        guard
            let pattern = try? Regex(
                "^\\s*(?:@[\\w()]+ )*package \(modifiers)(struct|class|enum|protocol|actor|func|init|subscript|typealias)\\b"
            )
        else { return [0] }
        let witnesses = [
            "func <", "func ==", "func +", "func -", "func hash(", "func encode(to", "init(from decoder", "func next()",
            "func makeAsyncIterator",
            "func advanced(by", "func duration(to", "func sleep(until",
        ]
        return all.indices.compactMap { index in
            let line = all[index].text
            guard line.firstMatch(of: pattern) != nil else { return nil }
            if witnesses.contains(where: { line.contains($0) }) { return nil }
            if line.contains("package init("), !isThrowing(all, from: index) { return nil }
            var above = index - 1
            while above >= 0, all[above].text.trimmed.hasPrefix("@") { above -= 1 }
            return above >= 0 && all[above].text.trimmed.hasPrefix("///") ? nil : all[index].number
        }
    }

    private static func isThrowing(_ all: [(number: Int, text: Substring)], from index: Int) -> Bool {
        for line in all[index...].prefix(12) {
            if line.text.contains("throws") { return true }
            if line.text.contains("{") { return false }
        }
        return false
    }

    /// Returns forms that are never right: they end the daemon, or leave work that no caller awaits.
    static func forbidden(in text: String) -> [(line: Int, word: String)] {
        lines(of: text).flatMap { number, line -> [(Int, String)] in
            let code = line.trimmed.hasPrefix("//") ? "" : String(line)
            return ["try!", "fatalError(", "Task.detached", "preconditionFailure("].filter { code.contains($0) }
                .map { (number, $0) }
        }
    }

    /// Words of the commands that a job runs by `martlet-tools`: those of the analyzer of C sources, the reader of manifests and the assembler of
    /// products.
    static let jobCommands = [
        "--analyze-c", "--archive-products", "dump-package", "show-dependencies", "--analyzer-output", "llvm-ar",
        "pkg-config",
        "CAnalyzer", "PackageManifest", "ProductAssembler",
    ]

    /// Returns the words of a job's commands, by line. Comments count, too: none belongs into a program that holds secrets.
    static func jobCommands(in text: String) -> [(line: Int, word: String)] {
        lines(of: text).flatMap { number, line in
            jobCommands.filter { line.contains($0) }.map { (number, $0) }
        }
    }

    /// Returns a target and all targets that it is made of.
    static func closure(of target: String, in manifest: Manifest) -> Set<String> {
        var (found, pending): (Set<String>, [String]) = ([target], [target])
        while let next = pending.popLast() {
            pending += (manifest.targets[next] ?? []).filter { found.insert($0).inserted }
        }
        return found
    }

    /// The files of Storage that read rows by GRDB's own means, which end the process for `NULL` and for a value of another type.
    static let rowReaders = ["Database+statements.swift", "StoredRow.swift"]

    /// Returns names of GRDB that read rows. `Data`, `Int` and the like have GRDB's `fetchOne` too, and all of them read a `Row`.
    static func readsRows(in text: String) -> [(line: Int, word: String)] {
        // Unicode's default word boundaries make one word of "Row.fetchOne".
        let pattern = /\bRow\b|\bfetch(?:One|All|Set|Cursor|Count)\b|\b(?:Fetchable|Table)Record\b|\bDatabaseValue\b/
            .wordBoundaryKind(.simple)
        return lines(of: text).compactMap { number, line in
            line.trimmed.hasPrefix("//") ? nil : line.firstMatch(of: pattern).map { (number, String($0.0)) }
        }
    }

    /// Returns forms that end the process for an unexpected value: a fraction out of range, a duplicate key, an optional that is `nil`.
    static func traps(in text: String) -> [(line: Int, word: String)] {
        let number =
            /\bU?Int(?:8|16|32|64)?\((?!clamping:|exactly:|truncatingIfNeeded:|bitPattern:).*(?:\.rounded\(|timeInterval)/
        let unwrapped = /[\w)\]]!(?![=\w(])/
        return lines(of: text).flatMap { index, line -> [(Int, String)] in
            if line.trimmed.hasPrefix("//") { return [] }
            let code = line.replacing(/"(?:[^"\\]|\\.)*"/, with: "\"\"")
            var found: [(Int, String)] = []
            if code.contains(number) { found.append((index, "a fraction made a number: use `clamping:`")) }
            if code.contains("uniqueKeysWithValues") {
                found.append((index, "uniqueKeysWithValues: say which of two counts"))
            }
            if code.contains(unwrapped) { found.append((index, "an optional that is taken by force")) }
            return found
        }
    }

    /// Returns authentication codes that are made and not compared in constant time. `ConstantTime.areEqual` must be around the call, or get the
    /// constant that holds its result. A code that is sent, as text, is compared by its receiver.
    static func comparedOtherwise(in text: String) -> [Int] {
        lines(of: text).compactMap { number, line in
            let found = ["Digest.hmacSHA256(", ".authenticationCode(key"].compactMap { line.firstRange(of: $0) }.first
            guard let call = found, !line.trimmed.hasPrefix("//"), !line.contains("func ") else { return nil }
            let before = line[..<call.lowerBound].trimmed
            if before.contains("ConstantTime.areEqual(") { return nil }
            guard before.hasPrefix("let "), let equals = before.firstRange(of: " =") else { return number }
            let name = before[..<equals.lowerBound].dropFirst("let ".count)
            let after = before[equals.upperBound...]
            let isHeld = after.isEmpty || after.hasPrefix(" try ")
            let uses = [
                "ConstantTime.areEqual(\(name), ", "Data(\(name)).base64EncodedString()", "Base64URL.encode(\(name))",
                "Hexadecimal.encode(\(name))",
            ]
            return isHeld && uses.contains(where: text.contains) ? nil : number
        }
    }

    /// Returns services without a description. A service group describes each service when it is created. Without a `description` that is a dump of
    /// all referenced objects by reflection, which takes tens of milliseconds.
    static func undescribedServices(in text: String) -> [Int] {
        let pattern = /\b(?:struct|class|actor|enum|extension) \w+(?:<.*>)?:(?:.*[ ,])?(?:ServiceLifecycle\.)?Service\b/
            .wordBoundaryKind(.simple)
        return lines(of: text).compactMap { number, line in
            guard !line.trimmed.hasPrefix("//"), line.contains(pattern) else { return nil }
            return line.contains("CustomStringConvertible") ? nil : number
        }
    }

    /// Returns commands whose configuration does not begin with a `commandName` within five lines. ArgumentParser derives a missing name by
    /// reflection, for every command of the tree, each time the program starts.
    static func unnamedCommands(in text: String) -> [Int] {
        let all = lines(of: text)
        return all.indices.compactMap { index in
            guard all[index].text.contains("struct "), all[index].text.contains("ParsableCommand {") else { return nil }
            let beginning = all[index...].prefix(6).map(\.text.trimmed).prefix { $0 != "}" }.joined()
            return beginning.contains("CommandConfiguration(commandName: ") ? nil : all[index].number
        }
    }

    /// The lines of a file. The traits of its tests, such as the promises that they prove, are not counted: their number is no fault of the file.
    static func length(of text: String) -> Int {
        let all = lines(of: text)
        guard all.count - 1 > longestFile else { return all.count - 1 }
        let ends = ["arguments:", "func ", "struct ", "class ", "enum "]
        var isTrait = false
        let counted = all.filter { _, line in
            let line = line.trimmed
            if line.hasPrefix("@Test(") || line.hasPrefix("@Suite(") { isTrait = true }
            if isTrait, !line.hasPrefix("\""), ends.contains(where: { line.contains($0) }) { isTrait = false }
            return !isTrait
        }
        return counted.count - 1
    }

    static func lines(of text: String) -> [(number: Int, text: Substring)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0.offset + 1, $0.element) }
    }
}
