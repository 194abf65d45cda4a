import Foundation
import Integrations
import Settings

/// What keeps jobs from this machine: asked once, when a program that runs jobs starts.
enum MachineIsolation {
    /// - Throws: `Failure` when the settings ask for what cannot be here.
    static func decide(_ settings: ServiceSettings, supervisor: String) throws -> JobIsolation {
        do throws(IsolationError) {
            return try JobIsolation.decide(
                settings, probe: .fails("this version has no fence yet"),
                path: ProcessInfo.processInfo.environment["PATH"] ?? "", supervisor: supervisor)
        } catch {
            throw Failure(.configuration, error.description)
        }
    }
}
