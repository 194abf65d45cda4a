import Foundation
import Glibc
import Integrations
package import Jobs
import Model
import Settings
import TestSupport

extension JobIsolation {
    /// Returns the sandbox that `serve` makes on this machine.
    /// - Parameters:
    ///   - readOnly: The read-only paths of the settings.
    ///   - loopback: The settings' value for the machine's loopback.
    package static func sandboxed(readOnly: [String] = [], loopback: Bool? = nil) throws -> JobIsolation {
        let settings = ServiceSettings(
            state: "/nowhere", bots: "/nowhere", concurrency: 1, isolation: .sandbox,
            sandbox: SandboxSettings(readOnly: readOnly, loopback: loopback))
        let hasNetwork = TestTools.find("slirp4netns") != nil && access("/dev/net/tun", R_OK | W_OK) == 0
        return try JobIsolation.decide(
            settings, probe: hasNetwork ? .works : .sharesNetwork("no slirp4netns"),
            path: ProcessInfo.processInfo.environment["PATH"] ?? "",
            tools: try TestTools.builtProduct("martlet-tools"))
    }
}
