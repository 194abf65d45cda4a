/// The end of a test's process, collected from a console's lines.
struct CrashText: Sendable {
    /// The Swift runtime's message: `Fatal error: Index out of range`.
    private(set) var fatalError: String?
    private(set) var signal: Int?
    /// The first place in the repository that the backtrace shows.
    private(set) var path: String?
    private(set) var line: Int?

    /// Reads a line. Most lines are ignored.
    mutating func consume(_ text: String, root: SourceRoot) {
        if fatalError == nil, let range = text.range(ofFirst: "Fatal error: ") ?? text.range(ofFirst: "Fatal error:") {
            fatalError = TextLimit.cut(String(text[range.lowerBound...]), toBytes: 1000)
            if path == nil, range.lowerBound > text.startIndex,
                let place = PrintedPlace(text[..<range.lowerBound].trimmingSuffix { $0 == " " || $0 == ":" })
            {
                // The runtime prints `Kit/Parser.swift:12`, with the module and not the directory. That is no path in the repository.
                if let relative = root.relative(place.path), place.path.hasPrefix("/") {
                    (path, line) = (relative, place.line)
                }
            }
        }
        if signal == nil {
            if let range = text.range(ofFirst: "*** Signal ") {
                signal = Self.number(text[range.upperBound...])
            } else if let range = text.range(ofFirst: "xited with unexpected signal code ") {
                signal = Self.number(text[range.upperBound...])
            }
        }
        // A frame: `3 [ra] 0x0000561a36a53e81 f(_:) + 32 in crash at /src/crash.swift:1:30`.
        if path == nil, text.contains("0x"), let range = text.range(ofLast: " at /"),
            let place = PrintedPlace("/" + text[range.upperBound...].trimmingSuffix(while: \.isWhitespace)),
            let relative = root.relative(place.path), !relative.hasPrefix(".build/")
        {
            (path, line) = (relative, place.line)
        }
    }

    /// A text such as `ended by signal 4 (SIGILL): Fatal error: Index out of range`; `nil` if the console shows no crash.
    var message: String? {
        let parts = [signal.map { "ended by " + SignalName.text($0) }, fatalError].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    private static func number(_ text: Substring) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return digits.utf8.count <= 3 ? Int(digits) : nil
    }
}
