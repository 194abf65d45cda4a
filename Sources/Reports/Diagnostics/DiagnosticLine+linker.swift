extension DiagnosticLine {
    /// Parses an error that GNU ld, gold or lld print without the word "error"; `nil` for other lines.
    static func linker(_ line: String) -> DiagnosticLine? {
        if line.has("ld returned 1 exit status") {
            return DiagnosticLine(isError: true, message: "ld returned 1 exit status", isConsequence: true)
        }
        for phrase in ["undefined reference to ", "multiple definition of "] as [StaticString] {
            guard let range = line.range(ofFirst: phrase), range.lowerBound > line.startIndex else { continue }
            let head = line[..<range.lowerBound].trimmingSuffix { $0 == " " || $0 == ":" }
            var text = String(line[range.lowerBound...])
            // The place of the first definition differs from build to build, so it is not part of the message.
            if let end = text.range(ofFirst: "; ") { text = String(text[..<end.lowerBound]) }
            var diagnostic = DiagnosticLine(isError: true, message: quoted(text))
            diagnostic.place = PrintedPlace(afterTool(head))
            return diagnostic
        }
        let (tool, rest) = split(line)
        guard let tool, isLinker(tool), problems.contains(where: { rest.has($0) }) else { return nil }
        return DiagnosticLine(
            isError: true, message: quoted(String(rest)), isConsequence: rest.has("final link failed"))
    }

    /// Parses errors of Make such as `make: *** No rule to make target 'x'.  Stop.` and `Makefile:3: *** missing separator.  Stop.`; `nil` for other
    /// lines.
    static func make(_ line: String) -> DiagnosticLine? {
        guard let range = line.range(ofFirst: ": *** ") else { return nil }
        let head = line[..<range.lowerBound]
        let text = String(line[range.upperBound...])
        guard !text.hasSuffix("(ignored)"), !text.hasPrefix("Waiting for unfinished jobs") else { return nil }
        if let place = PrintedPlace(head), !head.contains(where: \.isWhitespace) {
            return DiagnosticLine(isError: true, message: text, place: place)
        }
        guard head.hasPrefix("make") || head.hasPrefix("gmake") else { return nil }
        // `[Makefile:3: all] Error 1` reports that a command failed, which printed the reason itself.
        return DiagnosticLine(isError: true, message: text, isConsequence: text.hasPrefix("["))
    }

    /// Returns whether a message is one that linkers print after object files and functions.
    static func isLinkerText(_ message: String) -> Bool {
        message.hasPrefix("undefined reference to") || message.hasPrefix("multiple definition of")
            || message.hasPrefix("undefined symbol")
    }

    private static let problems: [StaticString] = [
        "cannot find ", "TLS definition in", "file not recognized", "file format not recognized", "DSO missing",
        "could not read symbols", "final link failed", "cannot open ", "hidden symbol", "relocation ",
        "undefined symbol", "No such file",
    ]

    private static func isLinker(_ tool: Substring) -> Bool {
        let name = tool.split(separator: "/").last ?? ""
        return name == "ld" || name.hasPrefix("ld.") || name.hasSuffix("-ld") || name == "lld" || name == "mold"
    }

    private static func split(_ line: String) -> (tool: Substring?, rest: Substring) {
        guard let range = line.range(ofFirst: ": ") else { return (nil, Substring(line)) }
        return (line[..<range.lowerBound], line[range.upperBound...])
    }

    /// Returns the text without the linker's own name at the beginning.
    private static func afterTool(_ head: Substring) -> Substring {
        guard let range = head.range(ofFirst: ": ") else { return head }
        return head[range.upperBound...]
    }

    /// Returns the text with GNU's quotes `like this' written 'like this', so that gcc's locale does not matter.
    private static func quoted(_ text: String) -> String {
        String(text.map { $0 == "`" || $0 == "‘" || $0 == "’" ? "'" : $0 })
    }

    private init(isError: Bool, message: String, place: PrintedPlace? = nil, isConsequence: Bool = false) {
        self.isError = isError
        self.message = message
        self.place = place
        self.isConsequence = isConsequence
    }
}
