import Execution
import Foundation
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import Settings

/// Determines how jobs are isolated from this machine. This is done once, when a program that runs jobs starts.
enum MachineIsolation {
    /// Decides the isolation of jobs.
    /// - Parameters:
    ///   - launcher: The socket of the launcher that will start the jobs; `nil` if one is started only for them.
    ///   - wasSandboxed: Whether jobs were sandboxed here before.
    ///   - hadOwnNetwork: Whether their steps had a network of their own.
    /// - Throws: `Failure` if the settings require what is not possible here, or the supervisor cannot be asked.
    static func decide(
        _ settings: ServiceSettings, supervisor: String, tools: String, launcher: String? = nil,
        wasSandboxed: Bool = false,
        hadOwnNetwork: Bool = false
    ) async throws -> JobIsolation {
        do {
            // Without a sandbox no probe is necessary.
            if settings.isolation == ServiceSettings.Isolation.none {
                return try JobIsolation.decide(settings, probe: .works, path: "", tools: tools)
            }
            let found = try await find(
                settings, supervisor: supervisor, tools: tools, launcher: launcher, wasSandboxed: wasSandboxed,
                hadOwnNetwork: hadOwnNetwork)
            return found.isolation
        } catch {
            throw Failure(.configuration, "\(error)")
        }
    }

    /// Decides by the settings and by a probe, an empty sandbox. The probe is repeated a few times if that may help.
    /// - Throws: `IsolationError` if the settings require what is not possible; `ExecutionError` if the supervisor cannot be asked.
    static func find(
        _ settings: ServiceSettings, supervisor: String, tools: String, launcher: String?, wasSandboxed: Bool = false,
        hadOwnNetwork: Bool = false
    ) async throws -> (isolation: JobIsolation, finding: SandboxFinding) {
        let finding = try await SandboxProbe(supervisor: supervisor, launcher: launcher).find(
            pausing: ContinuousClock())
        let probe: JobIsolation.Probe =
            if !finding.works {
                .fails(finding.reason ?? "the probe gives no reason")
            } else {
                finding.networkReason.map { .sharesNetwork($0) } ?? .works
            }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let isolation = try JobIsolation.decide(
            settings, probe: probe, path: path, tools: tools, wasSandboxed: wasSandboxed,
            hadOwnNetwork: hadOwnNetwork)
        return (isolation, finding)
    }

    /// Makes an empty sandbox as jobs have it, and returns what fails now although it worked when the service started.
    /// - Parameter isManaged: Whether a service manager keeps the launcher.
    static func troubles(
        of isolation: JobIsolation, supervisor: String, tools: String, launcher: String, isManaged: Bool
    ) async -> [ServiceCondition] {
        let programs: [String] = [supervisor, tools].filter { access($0, X_OK) != 0 }
        guard programs.isEmpty else {
            return [
                ServiceCondition(
                    .launcher, reason: "\(programs.joined(separator: " and ")) cannot be run, so no job starts",
                    remedy: "install Martlet again, then `systemctl restart martlet`", stopsWork: true)
            ]
        }
        let finding: SandboxFinding
        do {
            finding = try await SandboxProbe(supervisor: supervisor, launcher: launcher, isManaged: isManaged).find()
        } catch {
            return [
                ServiceCondition(
                    .launcher, reason: "the launcher does not answer: \(error)",
                    remedy:
                        "`systemctl restart martlet-launcher.socket martlet-launcher` starts it again; running jobs go on",
                    stopsWork: true)
            ]
        }
        guard isolation.isolation == .sandbox else { return [] }
        let reason =
            finding.works
            ? isolation.hasOwnNetwork ? finding.networkReason : nil : finding.reason ?? "the probe gives no reason"
        return reason.map {
            [
                ServiceCondition(
                    .sandbox, reason: "jobs had a sandbox here until now, and it cannot be made: \($0)",
                    remedy:
                        "mend that; `martlet doctor` tries it again. Jobs fail until then, and none runs without a sandbox.",
                    stopsWork: true)
            ]
        } ?? []
    }
}

extension SandboxFinding.Means {
    /// A description of the mechanism that enforces a job's limits.
    var sentence: String {
        switch self {
        case .cgroup2: "limits by control groups"
        case .cgroup1: "limits by control groups of version 1"
        case .rlimit: "no control group, so a job's memory and processes are counted four times a second"
        }
    }
}
