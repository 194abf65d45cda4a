import Model

/// A reader of places and times in the YAML below a TAP point: `key: value` lines at any level.
enum TAPDiagnostics {
    /// Returns the place in a line. node-tap writes `file: test/a.js` and `line: 3`; Node's runner writes `location: '/kit/a.js:3:1'`.
    static func place(_ text: Substring) -> (path: String?, line: Int?) {
        guard let (key, value) = pair(text) else { return (nil, nil) }
        switch key {
        case "file", "fileName", "filename": return (value, nil)
        case "line", "lineNumber", "lineno":
            return (nil, TAPLine.number(Substring(value)).flatMap { $0 > 0 ? $0 : nil })
        case "location":
            let place = PrintedPlace(value)
            return (place?.path, place?.line)
        default: return (nil, nil)
        }
    }

    /// Returns the duration in a line such as `duration_ms: 12.5`; `nil` for other lines.
    static func duration(_ text: Substring) -> Duration? {
        guard let (key, value) = pair(text), key == "duration_ms", value.utf8.count < 40, let number = Double(value),
            number >= 0, number < 1e12
        else { return nil }
        return .milliseconds(number)
    }

    private static func pair(_ text: Substring) -> (key: String, value: String)? {
        guard text.utf8.count < 4096, let range = text.range(ofFirst: ": ") else { return nil }
        var value = text[range.upperBound...].trimmingPrefix(while: \.isWhitespace).trimmingSuffix(
            while: \.isWhitespace)
        if value.utf8.count > 1, let quote = value.first, quote == "'" || quote == "\"", value.last == quote {
            value = value.dropFirst().dropLast()
        }
        return value.isEmpty ? nil : (String(text[..<range.lowerBound]), String(value))
    }
}

extension TAPPoint {
    /// The point as a test result.
    var result: TestResult {
        let outcome: TestResult.Outcome = skip != nil ? .skipped : isOK ? .passed : todo != nil ? .knownIssue : .failed
        let reason = skip ?? (isOK ? nil : todo)
        return TestResult(
            suite: "", name: name.isEmpty ? number.map { "test \($0)" } ?? "(unnamed)" : name, outcome: outcome,
            duration: duration, message: reason.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Creates a point from its result when an opening brace shows that it has children.
    init(_ result: TestResult) {
        isOK = !result.outcome.isFailure
        name = result.name
        skip = result.outcome == .skipped ? result.message ?? "" : nil
        todo = result.outcome == .knownIssue ? result.message ?? "" : nil
        duration = result.duration
        opensChildren = true
    }
}
