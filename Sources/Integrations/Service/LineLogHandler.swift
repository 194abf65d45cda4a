package import Logging
import Model

/// Passes events to another log handler, with each text in them reduced to one line. Names of branches, messages of commits and answers of servers
/// are foreign texts, and a line feed in one would forge a line of the journal.
package struct LineLogHandler: LogHandler {
    private var inner: any LogHandler
    private let control: LogControl?
    /// The level that a logger was given, which is then not the control's.
    private var own: Logger.Level?

    /// - Parameter control: The level, unless a logger is given its own; `nil` if it is the inner handler's.
    package init(_ inner: any LogHandler, control: LogControl? = nil) {
        self.inner = inner
        self.control = control
        // Every line that the control lets through is written.
        if control != nil { self.inner.logLevel = .trace }
    }

    /// See `LogHandler`.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue.map(Self.line) }
    }

    /// See `LogHandler`.
    package var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue.mapValues(Self.line) }
    }

    /// See `LogHandler`.
    package var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    /// See `LogHandler`.
    package var logLevel: Logger.Level {
        get { own ?? control?.level ?? inner.logLevel }
        set { if control == nil { inner.logLevel = newValue } else { own = newValue } }
    }

    /// See `LogHandler`.
    package func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.inOneLine)"
        if let error = event.error {
            event.metadata = (event.metadata ?? [:]).merging(["error": "\(error)"]) { own, _ in own }
            event.error = nil
        }
        event.metadata = event.metadata?.mapValues(Self.line)
        inner.log(event: event)
    }

    private static func line(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
        switch value {
        case .string(let text): .string(text.inOneLine)
        case .stringConvertible(let value): .string("\(value)".inOneLine)
        case .array(let values): .array(values.map(line))
        case .dictionary(let values): .dictionary(values.mapValues(line))
        }
    }
}
