/// A frame of a sanitizer's stack.
struct SanitizerFrame: Equatable {
    var number: Int
    var function: String
    /// The place; `nil` if only a module is known. It has no line if only the file is known.
    var place: PrintedPlace?

    /// Parses a line such as one of these; fails for other lines:
    /// - `    #0 0x55ab59a36cc9 in main /home/me/asan.swift:3:8` (address, leak)
    /// - `    #0 $s4race /home/me/race.swift:4:64 (race+0xfd1df) (BuildId: …)` (thread)
    /// - `    #1 swift_slowAlloc <null> (libswiftCore.so+0x46fa6e)`
    init?(_ line: String) {
        let text = line.drop { $0 == " " || $0 == "\t" }
        guard text.first == "#" else { return nil }
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard digits.utf8.count <= 4, let number = Int(digits) else { return nil }
        var rest = text.dropFirst(1 + digits.count).drop { $0 == " " }
        if rest.hasPrefix("0x") {
            rest = rest.drop { $0 != " " }.drop { $0 == " " }
            if rest.hasPrefix("in ") { rest = rest.dropFirst(3) }
        }
        // Modules and build identifiers are last, in parentheses.
        while rest.last == ")", let open = rest.range(ofLast: " ("),
            rest[open.upperBound...].contains("+0x") || rest[open.upperBound...].hasPrefix("BuildId:")
        {
            rest = rest[..<open.lowerBound]
        }
        guard !rest.isEmpty, rest.utf8.count < 8192 else { return nil }
        self.number = number
        // A place begins with a slash or is the last word. Names of C++ functions may contain blanks.
        let start = rest.range(ofFirst: " /")?.lowerBound ?? rest.range(ofLast: " ")?.lowerBound
        guard let start, start > rest.startIndex else {
            function = String(rest)
            return
        }
        let printed = rest[rest.utf8.index(after: start)...]
        function = String(rest[..<start])
        guard !printed.isEmpty, !printed.hasPrefix("<"), !printed.hasPrefix("(") else { return }
        place = PrintedPlace(printed) ?? PrintedPlace("\(printed):0")
        if !printed.contains("/"), place?.line == nil {
            // This is the last word of a function's name.
            place = nil
            function = String(rest)
        }
    }
}
