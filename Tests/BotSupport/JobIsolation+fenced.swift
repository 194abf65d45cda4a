import Foundation
package import Integrations
import Model
import Settings
import TestSupport

extension JobIsolation {
    /// The fence as `serve` makes it on this machine.
    /// - Parameter readOnly: What the settings list.
    package static func fenced(readOnly: [String] = []) throws -> JobIsolation {
        let settings = ServiceSettings(
            state: "/nowhere", bots: "/nowhere", concurrency: 1, isolation: .sandbox,
            fence: FenceSettings(readOnly: readOnly))
        return try JobIsolation.decide(
            settings, probe: .works, path: ProcessInfo.processInfo.environment["PATH"] ?? "",
            supervisor: try TestTools.builtProduct("martlet-supervisor"))
    }
}
