package import Settings
import Synchronization

/// The settings with which the service runs: those of its start, with the keys that a reload has applied since.
package final class RunningSettings: Sendable {
    private let settings: Mutex<ServiceSettings>

    package init(_ settings: ServiceSettings) { self.settings = Mutex(settings) }

    package var current: ServiceSettings { settings.withLock { $0 } }

    /// Applies the keys that change without a restart (`SettingsChange.applied`).
    func apply(_ new: ServiceSettings) {
        settings.withLock { settings in
            settings.concurrency = new.concurrency
            settings.retention = new.retention
            settings.caches = new.caches
            settings.auditAge = new.auditAge
            settings.log = new.log
            settings.operators = new.operators
        }
    }
}
