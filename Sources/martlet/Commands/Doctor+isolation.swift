import Execution
import Foundation
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import Settings

extension Doctor {
    /// Determines how jobs are isolated from this machine.
    /// - Returns: The description if isolation works; the problem if it does not; and the description if the settings disable it.
    static func isolation(
        _ settings: ServiceSettings
    ) async -> (fine: String, trouble: String?, requested: String?, loopback: JobIsolation.Loopback?) {
        let unsandboxed = "none: jobs run as the service's user with all its rights; integrate only what you trust"
        do {
            let (isolation, finding) = try await MachineIsolation.find(
                settings, supervisor: try OwnPrograms.supervisor(), tools: try OwnPrograms.tools(),
                launcher: LauncherPlace.socket(of: StateDirectory(path: settings.state)))
            guard let reason = isolation.isolation.reason else {
                let seen = isolation.readOnly.joined(separator: ", ")
                return (
                    "sandbox: each step runs in a sandbox; \(finding.limits.sentence); jobs see \(seen)", nil, nil,
                    isolation.loopback
                )
            }
            if settings.isolation == ServiceSettings.Isolation.none {
                let could = finding.works ? "; the sandbox works here: remove `isolation: none`" : ""
                return ("", nil, "\(unsandboxed) (\(reason))\(could)", nil)
            }
            return ("", "\(unsandboxed); the sandbox cannot work here: \(reason)", nil, nil)
        } catch {
            return ("", "\(error)", nil, nil)
        }
    }

    static let reached = "steps that have the network reach what listens on this machine's loopback"

    /// Returns the path of a program in PATH; `nil` if there is none.
    static func find(_ tool: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(tool)" }
            .first { access($0, X_OK) == 0 }
    }
}
