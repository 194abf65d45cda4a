package import Logging
import Synchronization
package import Testing

/// A logger that stores all lines, and fails the test for every error line that was not expected.
package final class RecordingLogger: Sendable {
    /// A logged line.
    package struct Line: Sendable, CustomStringConvertible {
        package let level: Logger.Level
        package let message: String
        package let metadata: [String: String]

        package var description: String {
            let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            return "\(level): \(message)" + pairs.joined()
        }
    }

    private struct State {
        var lines: [Line] = []
        var expected: [String] = []
    }

    private let state = Mutex(State())
    private let sourceLocation: SourceLocation

    /// Creates the logger.
    /// - Parameter sourceLocation: The place at which unexpected lines are reported. They often come from tasks that know no test.
    package init(sourceLocation: SourceLocation = #_sourceLocation) { self.sourceLocation = sourceLocation }

    /// A logger that writes to this object, with every level.
    package var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .trace
        return logger
    }

    package var lines: [Line] { state.withLock { $0.lines } }

    /// Expects error lines that contain `text` from now on.
    package func expectErrors(containing text: String) { state.withLock { $0.expected.append(text) } }

    fileprivate func record(_ line: Line) {
        let isExpected = state.withLock { state in
            state.lines.append(line)
            return line.level < .error || state.expected.contains { line.description.contains($0) }
        }
        if !isExpected { Issue.record("unexpected log line: \(line)", sourceLocation: sourceLocation) }
    }
}

private struct Handler: LogHandler {
    let recorder: RecordingLogger
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    init(recorder: RecordingLogger) { self.recorder = recorder }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata.merging(event.metadata ?? [:]) { _, new in new }.mapValues { "\($0)" }
        if let error = event.error { all["error"] = "\(error)" }
        recorder.record(.init(level: event.level, message: event.message.description, metadata: all))
    }
}
