/// The lines by which analyzers report success or progress: these are no findings.
///
/// Any other line that is no finding may be a finding in an unknown format. The lists therefore contain the tools' default sentences, and what Make,
/// npm, shells and similar programs print around a tool. A file name alone is no such line: `gofmt -l` and `shfmt -l` print the names of badly
/// formatted files, and exit with 0.
enum AnalyzerProse {
    /// The longest line that can be a tool's sentence, in bytes.
    private static let maximumBytes = 1024

    /// Returns whether a line reports success or progress, or is empty of words.
    static func isKnown(_ text: String) -> Bool {
        guard text.contains(where: { $0.isLetter || $0.isNumber }) else { return true }
        guard text.utf8.count <= maximumBytes else { return false }
        let line = text.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
        if shells.contains(where: line.hasPrefix) { return true }
        // `==> Linting kit`, `- Checking kit`, `✔ no problems`
        let bare = line.drop { !$0.isLetter && !$0.isNumber && $0 != "[" && $0 != "(" && $0 != "." }
        let lowered = bare.lowercased()
        return lowered.utf8.first.flatMap { beginningsByByte[$0] }?.contains(where: lowered.hasPrefix) == true
            || parts.contains { lowered.has($0) } || saysNone(lowered) || isStep(lowered) || isCommand(line)
            || isVersion(lowered)
    }

    /// Returns whether a line begins with words of `progress` or `beginnings`, without making a string of it: a log may have millions of such lines.
    /// - Returns: `false` also for lines that only `isKnown` can decide.
    static func isProgress(_ line: LogLine) -> Bool {
        let bytes = line.bytes
        guard let first = bytes.first, let last = bytes.last, bytes.count <= maximumBytes else { return false }
        // Trailing blanks are not part of the text.
        guard first | 0x20 >= UInt8(ascii: "a"), first | 0x20 <= UInt8(ascii: "z"), last != 0x20,
            bytes.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return false }
        return beginningsOfBytes[Int(first | 0x20)].contains { beginning in
            bytes.count >= beginning.count && zip(bytes, beginning).allSatisfy { lowercased($0) == $1 }
        }
    }

    private static let beginningsOfBytes: [[[UInt8]]] = (0..<256).map { byte in
        (progress + beginnings).map { Array($0.utf8) }.filter { $0.first == UInt8(byte) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// `+ ruff check` (`set -x`), npm's `> kit@1.0.0 lint`, yarn's `$ eslint .`, go vet's `# kit/pkg`, GitHub's `::group::`, pylint's `*************
    /// Module kit`.
    private static let shells = ["+ ", "++ ", "> ", "$ ", "# ", "::", "-- ", "************* Module "]

    /// The beginnings of lines that report progress: cppcheck's `Checking a.c ...`, Cargo's `Compiling kit v0.1.0`.
    private static let progress = [
        "analysing ", "analyzing ", "blocking waiting ", "building ", "checking ", "collecting ", "compiling ",
        "computing ", "configuring ", "downloading ", "downloaded ", "entering directory", "executing ", "fetching ",
        "inspecting ", "installing ", "leaving directory", "linting", "loading ", "locking ", "preparing ",
        "processing ", "reading ", "removing directory ", "resolving ", "running ", "scanning ", "searching ",
        "starting ", "updating ", "using config", "validating ", "verifying ",
    ]

    private static let beginnings = [
        // Make, ninja, Maven, Gradle, sbt
        "make: ", "make[", "gmake: ", "gmake[", "ninja: ", "[info]", "[debug]", "[success]", "task :",
        "build success", "info: ", "info ", "debug: ",
        // ruff, mypy, pylint, black, bandit
        "success", "your code has been rated at ", "all done!", "run started:",
        "test results:", "code scanned:", "total lines ", "run metrics:", "total issues ", "files skipped ",
        "total potential issues ", "undefined: 0", "low: 0", "medium: 0", "high: 0", "[main]", "files in scope",
        "files excluded", "working... ",
        // Cargo, go
        "finished `", "finished dev", "finished release", "fresh ", "go: downloading ", "loaded ", "adding ",
        // swiftlint, swiftformat, rubocop, clang-tidy, scan-build, cppcheck
        "done linting! found 0 ", "(lint mode", "swiftformat completed ", "suppressed ", "use -header-filter",
        "use -system-headers", "scan-build: ", "done processing ", "offenses:",
        // eslint's friends, phpstan, dialyzer, credo
        "all matched files use ", "checked ", "finding: *", "summary: 0 ", "assuming python ",
        "no configuration file found", "[ok]", "note: using configuration file ",
        "done (passed", "done in ", "finished in ", "completed in ", "took ", "time: ", "total time", "analysis took ",
        "yarn run ", "yarn lint ", "linted ", "installed ", "resolved ", "requirement already satisfied",
        "successfully installed",
        "congratulations", "npm notice", "npm warn", "0/", "real\t", "user\t", "sys\t",
    ]

    /// The beginnings by their first byte, since a log may have millions of lines.
    private static let beginningsByByte = Dictionary(grouping: progress + beginnings) { $0.utf8.first ?? 0 }

    /// The texts, anywhere in a line, by which tools report that they found no problem.
    private static let parts: [StaticString] = [
        "all checks passed", "file already formatted", "files already formatted", "file would be left unchanged",
        "files would be left unchanged", "% done", "chart(s) linted, 0 chart(s) failed", " source file",
        "passed successfully", "is up to date",
        "nothing to be done", "looks good", "all good", "configuration is valid", "no syntax errors",
        "warnings generated",
        "warning generated", "rules run:", "....passed", "....skipped", " info ", " debug ",
    ]

    /// The nouns that are counted or denied: `no issues found`, `0 errors`, `found 0 vulnerabilities`.
    private static let counted: Set<Substring> = [
        "bug", "bugs", "defect", "defects", "error", "errors", "failed", "failure", "failures", "finding", "findings",
        "fix", "fixes", "hint", "hints", "issue", "issues", "lint", "offense", "offenses", "problem", "problems",
        "violation",
        "violations", "vulnerabilities", "vulnerability", "warning", "warnings",
    ]
    private static let between: Set<Substring> = ["known", "lint", "new", "open", "serious", "style", "total"]
    /// The words that may follow a denied noun. Without this check, the finding `no error handling` would match.
    private static let after: Set<Substring> = [
        "and", "detected", "found", "generated", "identified", "in", "or", "remaining", "reported", "to", "were",
    ]

    /// Returns whether a line says `no` or `0` of a counted noun. `10 errors` does not match, nor does `0 errors, 3 warnings`.
    private static func saysNone(_ line: String) -> Bool {
        if line == "0" { return true }
        let words = line.split { !$0.isLetter && !$0.isNumber }
        var (found, other) = (false, false)
        for (index, word) in words.enumerated() {
            var rest = words[(index + 1)...]
            while let next = rest.first, between.contains(next), rest.count > 1 { rest = rest.dropFirst() }
            guard let what = rest.first else { break }
            let isCounted = counted.contains(what)
            let isEnd = rest.count == 1 || after.contains(rest[rest.startIndex + 1])
            if isCounted, word == "0" || word == "no" && isEnd { found = true }
            if isCounted, word != "0", word.allSatisfy(\.isNumber) { other = true }
        }
        // `errors: 0, warnings: 0`
        if !found, words.count <= 12 {
            let pairs = zip(words, words.dropFirst()).filter { counted.contains($0) && $1.allSatisfy(\.isNumber) }
            found = !pairs.isEmpty
            other = other || pairs.contains { $0.1 != "0" }
        }
        return found && !other
    }

    /// Returns whether a line begins with a step such as `[1/3] Building C object`.
    private static func isStep(_ line: String) -> Bool {
        guard line.first == "[", let end = line.firstIndex(of: "]") else { return false }
        let counts = line[..<end].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return counts.count == 2 && counts.allSatisfy { TAPLine.number($0.drop { $0 == " " }) != nil }
    }

    /// Returns whether a line is a version, such as `pylint 3.0.2` or `markdownlint-cli2 v0.13.0 (markdownlint v0.34.0)`.
    private static func isVersion(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        // `requests 2.0.0 has a vulnerability` is a finding.
        guard words.count == 2 || words.count > 2 && words[2].first == "(", words[0].last != ":" else { return false }
        let number = words[1].first == "v" ? words[1].dropFirst() : words[1]
        return number.first?.isNumber == true && number.contains(".")
            && number.allSatisfy { $0.isNumber || $0 == "." || $0 == "-" || $0.isLetter }
    }

    /// Returns whether a line is a command, as Make prints it before it runs it.
    private static func isCommand(_ line: Substring) -> Bool {
        var words = line.split(separator: " ")[...]
        // `PYTHONPATH=src ruff check`
        while let first = words.first, let mark = first.firstIndex(of: "="),
            first[..<mark].allSatisfy({
                $0.isUppercase || $0.isNumber || $0 == "_"
            })
        {
            words = words.dropFirst()
        }
        guard let program = words.first, words.count > 1 else { return line.hasPrefix("./") && line.hasSuffix(".sh") }
        if program == "for" || program == "while" { return line.has("; do ") }
        guard let name = program.split(separator: "/").last, tools.contains(name) else { return false }
        // `ruff: no such rule`, `eslint found`
        return !words.dropFirst().contains { ["is", "are", "was", "were", "found", "failed", "sure"].contains($0) }
    }

    private static let tools: Set<Substring> = [
        "actionlint", "ansible-lint", "bandit", "bash", "biome", "black", "bundle", "cargo", "cd", "clang-format",
        "clang-tidy", "clippy-driver", "codespell", "cppcheck", "echo", "eslint", "find", "flake8", "git", "go",
        "gofmt", "golangci-lint", "hadolint", "isort", "make", "markdownlint", "mkdir", "mypy", "node", "npm", "npx",
        "php", "phpcs", "phpstan", "pnpm", "poetry", "pre-commit", "prettier", "psalm", "pycodestyle", "pyflakes",
        "pylint",
        "pyright", "python", "python3", "rubocop", "ruby", "ruff", "run-clang-tidy", "semgrep", "sh", "shellcheck",
        "shfmt",
        "staticcheck", "stylelint", "swift", "swift-format", "swiftformat", "swiftlint", "tox", "tsc", "uv", "vulture",
        "xargs", "yamllint", "yarn",
    ]
}
