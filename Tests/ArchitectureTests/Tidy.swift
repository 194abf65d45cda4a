import Glibc

/// Rules of form and language that a program can check, as functions of text. Each returns the lines that break it. `TidyWords` has the words.
enum Tidy {
    typealias Finding = (line: Int, word: String)

    /// In columns. A literal that another program reads as one line is not counted.
    static let longestLine = 150

    /// In lines, from the declaration to its closing brace.
    static let longestFunction = 70

    /// In words. A piece of code counts as one word.
    static let longestSentence = 40

    /// Functions that are longer than `longestFunction`, by file and name, each with the reason.
    static let longFunctions = [
        "Sources/Settings/YAML/ResolvedYAML.swift print": "one line for each key of a bot file, in the file's order",
        "Sources/Integrations/Triggers/TriggerRunner.swift perform": "one switch with a case for each kind of trigger",
        "Sources/martlet/Serve/IntegrationService+build.swift init": "the composition of the service's parts",
        "Sources/Forges/Webhooks/Forge+instructions.swift instructions": "one text for each forge",
        "Sources/SourceControl/Remote/RemoteSession+explaining.swift explained": "one switch over libgit2's errors",
        "Tests/SourceControlTests/GitDifferentialTests.swift compare": "one list of comparisons of two engines",
        "Tests/ServiceSupport/KillScenario+bot.swift bot": "one bot for each scenario, in one switch",
        "Tests/ArchivesTests/ArtifactPackerTests.swift testThatExecutablesAndALibraryOfCAreBundled":
            "the whole text of a bundle's index",
        "Tests/EndToEndTests/SandboxedBotTests.swift testThatDependenciesAreResolvedWithTheNetworkAndTheRestIsBuiltWithout":
            "the texts of two packages, of which one needs the other",
    ]

    /// Lines with more columns than `longestLine`, string literals left out.
    static func longLines(in text: String) -> [Int] {
        guard text.utf8.count > longestLine, hasLongLine(text) else { return [] }
        var isLiteral = false
        return Rules.lines(of: text).compactMap { number, line in
            let wasLiteral = isLiteral
            if !line.ranges(of: "\"\"\"").count.isMultiple(of: 2) { isLiteral.toggle() }
            guard line.utf8.count > longestLine, !wasLiteral else { return nil }
            let code = line.replacing(/#".*"#/, with: "\"\"").replacing(/"(?:[^"\\]|\\.)*"/, with: "\"\"")
            return code.count > longestLine ? number : nil
        }
    }

    /// Functions and initializers with more than `longestFunction` lines, by name. `swift format` puts the closing brace below the declaration's
    /// first letter, and nothing else of the function there.
    static func longFunctions(in text: String) -> [Finding] {
        let all = Rules.lines(of: text).map(\.text)
        guard all.count > longestFunction else { return [] }
        let depths = all.map { line in line.utf8.prefix { $0 == UInt8(ascii: " ") }.count }
        let declaration = /(?:@?[\w.()"]+,? )*?(?:func ([^\s(<]+)|(init)[?(<])/
        return all.indices.compactMap { index -> Finding? in
            let line = all[index].utf8
            guard let last = line.last, last == UInt8(ascii: "{") || last == UInt8(ascii: "(") else { return nil }
            // The function ends before the next line at its depth that is not part of its declaration.
            let end = all.indices[(index + 1)...].first { next in
                guard depths[next] <= depths[index], let first = all[next].utf8.dropFirst(depths[next]).first else {
                    return false
                }
                return !"){/#".utf8.contains(first)
            }
            guard let end, end - index + 1 > longestFunction, all[end].utf8.last == UInt8(ascii: "}"),
                let match = String(Substring(line.dropFirst(depths[index]))).prefixMatch(of: declaration)
            else { return nil }
            return (index + 1, String(match.1 ?? "init"))
        }
    }

    /// Doc comments that call `nil` "nothing".
    static func nothingForNil(in text: String) -> [Int] {
        guard mayContain(["nothing"], in: text) else { return [] }
        let all = Rules.lines(of: text)
        return all.indices.compactMap { index in
            guard isComment(all[index].text) else { return nil }
            let line = all[index].text.trimmed
            guard line.hasPrefix("///"), line.lowercased().contains("nothing") else { return nil }
            let next = index + 1 < all.count ? all[index + 1].text.trimmed : ""
            let words = TidyWords.words(of: line + (next.hasPrefix("///") ? next.dropFirst(3).prefix(12) : ""))
            let isNil = words.indices.contains { place in
                guard words[place] == "nothing" else { return false }
                let before = place > 0 ? words[place - 1] : ""
                let after = place + 1 < words.count ? words[place + 1] : ""
                if before == "returns" { return true }
                if before == "or" { return place < 2 || words[place - 2] != "all" }
                let isAnswer = place == 0 || line.lowercased().contains("; nothing \(after)")
                return isAnswer && ["if", "when", "where", "unless", "until", "before", "for"].contains(after)
            }
            return isNil ? all[index].number : nil
        }
    }

    /// Sentences of a page with more words than `longestSentence`. Tables and code are left out.
    static func longSentences(in page: String) -> [Finding] {
        paragraphs(of: page).flatMap { paragraph -> [Finding] in
            let text = paragraph.text.replacing(/`[^`]*`/, with: "X").replacing(/\]\([^)]*\)/, with: "]")
            return text.split(separator: /[.!?:][)"”*_]*\s+/).compactMap { sentence in
                let words = sentence.split { $0 == " " }.filter { $0 != "–" }
                return words.count > longestSentence
                    ? (paragraph.line, words.prefix(6).joined(separator: " ") + " …") : nil
            }
        }
    }

    /// Issue numbers in comments. They lead out of the project, which explains itself.
    static func issueNumbers(in text: String) -> [Finding] {
        guard mayContain([" #", "(#"], in: text) else { return [] }
        let issue = /(?:\bissues?|\bPR|\bfix(?:es)?|\bcloses|\bsee|\() ?#\d+\b/.ignoresCase()
        return Rules.lines(of: text).compactMap { number, line in
            guard isComment(line) || line.utf8.first == UInt8(ascii: "#"), line.utf8.contains(UInt8(ascii: "#")) else {
                return nil
            }
            return line.firstMatch(of: issue).map { (number, String($0.0)) }
        }
    }

    /// Whether one of the words is anywhere in a text, in any case. It spares most files the closer look.
    static func mayContain(_ words: some Sequence<String>, in text: String) -> Bool {
        text.lowercased().withCString { text in words.contains { strstr(text, $0) != nil } }
    }

    /// Whether a line is a comment.
    static func isComment(_ line: Substring) -> Bool {
        line.utf8.drop { $0 == UInt8(ascii: " ") }.starts(with: "//".utf8)
    }

    private static func hasLongLine(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var start = 0
            while start < bytes.count, let base = bytes.baseAddress {
                let end =
                    memchr(base + start, 0x0a, bytes.count - start).map { UnsafeRawPointer(base).distance(to: $0) }
                    ?? bytes.count
                if end - start > longestLine { return true }
                start = end + 1
            }
            return false
        }
    }

    /// The paragraphs and list items of a page, each on one line, with the number of its first line.
    private static func paragraphs(of page: String) -> [(line: Int, text: String)] {
        var found: [(line: Int, text: String)] = []
        var isCode = false
        var isOpen = false
        for (number, line) in Rules.lines(of: page) {
            let text = line.trimmed
            if text.hasPrefix("```") { isCode.toggle() }
            if isCode || text.isEmpty || text.hasPrefix("```") || text.hasPrefix("|") || text.hasPrefix("#") {
                isOpen = false
            } else if let item = text.prefixMatch(of: /(?:[-*]|\d+\.) +/) {
                found.append((number, String(text[item.range.upperBound...])))
                isOpen = true
            } else if isOpen {
                found[found.count - 1].text += " " + text
            } else {
                found.append((number, String(text)))
                isOpen = true
            }
        }
        return found
    }
}
