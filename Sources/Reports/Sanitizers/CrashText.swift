import Model

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

/// A reader of a console that finds the last crash of a test command's process.
///
/// XCTest's process runs before Swift Testing's, so an earlier crash is discarded when Swift Testing's run starts.
package struct CrashReader: Sendable {
    private static let begin: Needles = ["Test run started"]
    private static let needles: Needles = [
        "Fatal error:", "*** Signal ", "xited with unexpected signal code ", "Test run started",
    ]
    private static let root = SourceRoot(mountedAt: "/")

    private var crash = CrashText()

    package init() {}

    /// Reads a line. Most lines are ignored.
    package mutating func consume(_ line: LogLine) {
        guard line.contains(Self.needles) else { return }
        if line.contains(Self.begin) { crash = CrashText() } else { crash.consume(line.text, root: Self.root) }
    }

    /// Returns a text such as `ended by signal 4 (SIGILL): Fatal error: Index out of range`; `nil` if the console shows no crash.
    package func finish() -> String? { crash.message }

    /// Returns the last crash in a console that is in memory; `nil` if it shows none.
    static func last(in console: [UInt8]) -> String? {
        var reader = CrashReader()
        LogLines.forEach(in: console) { reader.consume($0) }
        return reader.finish()
    }
}

/// The texts for a test process that crashed while several tests were running.
enum CrashedProcess {
    /// The name of the test that stands for the crash if no output names the crashed test.
    static let testName = "(process)"
    /// The message of the other running tests.
    static let notRun = "did not run to its end: the test process ended before it"
    /// The message of tests that had not started.
    static let neverBegun = "did not run: the test process ended before it began"
    /// The most names that are listed.
    private static let maximumNames = 20

    /// Returns the message with the crash and the tests that were running.
    static func message(_ crash: String, running names: [String]) -> String {
        let more = names.count > maximumNames ? ", and \(names.count - maximumNames) others" : ""
        let list = names.prefix(maximumNames).map { TextLimit.cut($0, toBytes: 200) }.joined(separator: ", ")
        let text = "\(names.count.counting("test")) were running when their process ended: \(list)\(more)"
        return crash.isEmpty ? text : TextLimit.cut(crash + "\n" + text, toBytes: 8192)
    }
}
