package import Logging
package import Settings
import Synchronization

/// What is written to the log. A reload of the settings changes it while the service runs.
package final class LogControl: Sendable {
    private let settings: Mutex<LogSettings>

    package init(_ settings: LogSettings = LogSettings()) { self.settings = Mutex(settings) }

    /// Applies what a reload has read.
    package func set(_ new: LogSettings) { settings.withLock { $0 = new } }

    /// Whether each request has a line.
    package var hasRequests: Bool { settings.withLock { $0.hasRequests } }

    /// The least important lines that are written.
    package var level: Logger.Level {
        switch settings.withLock({ $0.level }) {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
