import Execution
import Glibc
package import JobProtocol
package import Model
package import Settings

/// How jobs are isolated from the machine, as determined when the service started.
package struct JobIsolation: Sendable {
    package var isolation: Isolation
    /// The paths that every sandboxed job sees read-only at the same place: the supervisor, toolchains, and those that the settings list.
    package var readOnly: [String]
    /// The `PATH` of a sandboxed job, unless it has an image.
    package var path: String
    /// The directory whose subdirectories recipes can name as `image`. `nil` if there are no images.
    package var images: String?
    /// The reason why a sandboxed step with the network reaches services on the machine's loopback; `nil` if it does not.
    package var loopback: Loopback?
    /// The limits for the resources of one job.
    package var limits: SandboxSettings
    /// The service's own paths, which the settings cannot show to jobs.
    var hidden = HiddenPaths.none

    /// Whether steps with the network have a network of their own.
    package var hasOwnNetwork: Bool { isolation == .sandbox && loopback == nil }

    /// The reason why jobs in the sandbox can reach the machine's loopback.
    package enum Loopback: Hashable, Sendable {
        /// The settings permit it.
        case requested
        /// No other network is possible here. The text states why, and what to do.
        case needed(String)

        /// The reason, if the settings did not ask for it; `nil` otherwise.
        package var reason: String? { if case .needed(let reason) = self { reason } else { nil } }
    }

    /// Sentences about the isolation for users who see no page with them.
    package var notes: [String] {
        loopback?.reason.map { ["steps with the network reach what listens on this machine's loopback: \($0)"] } ?? []
    }

    /// Returns the path at which jobs see their workspace. It is the same for every integration of a bot, in every configuration and slot, so that
    /// paths in build products never change.
    package static func mountedAt(_ bot: Name) -> String { "/martlet/\(bot)" }
    /// The home directory of jobs. It is empty when a job starts, and keeps what its steps write for later steps. Files that should survive the job
    /// belong in the workspace (`XDG_CACHE_HOME`).
    package static let home = "/home/martlet"
    /// The user name that `id` and the sandbox's passwd file report to a job.
    package static let user = "martlet"

    package init(
        isolation: Isolation, readOnly: [String] = [], path: String = Toolchains.usualPath, images: String? = nil,
        loopback: Loopback? = nil, limits: SandboxSettings = SandboxSettings()
    ) {
        self.isolation = isolation
        self.readOnly = readOnly
        self.path = path
        self.images = images
        self.loopback = loopback
        self.limits = limits
    }

    /// The reason why pull requests are not run if jobs are not sandboxed.
    package static let pullRequestReason =
        "jobs are not separated from the machine (isolation: none), so nothing of a pull request is run"

    /// Whether the sandbox can work here, as its probe found.
    package enum Probe: Sendable {
        case works
        /// The sandbox works, but a step with the network can only have the machine's own. The text states why, and what to do, in a sentence.
        case sharesNetwork(String)
        /// The sandbox fails. The text states why, and what to do, in a sentence.
        case fails(String)
    }

    /// Decides how jobs are isolated, by the settings and by what works on this machine.
    /// - Parameters:
    ///   - path: The daemon's `PATH`, which names the toolchains.
    ///   - tools: The absolute path of `martlet-tools`, which jobs see.
    ///   - wasSandboxed: Whether jobs were sandboxed here before. A sandbox that fails now is then a fault, perhaps a temporary one, and no reason to
    ///     run strangers' commits without a sandbox.
    ///   - hadOwnNetwork: Whether steps had a network of their own here before. If that fails now, it is a fault, too.
    /// - Throws: `IsolationError` if the settings ask for something impossible. The service must not start then.
    package static func decide(
        _ settings: ServiceSettings, probe: Probe, path: String, tools: String, wasSandboxed: Bool = false,
        hadOwnNetwork: Bool = false
    ) throws(IsolationError) -> JobIsolation {
        switch (settings.isolation, probe) {
        case (.some(.none), _): return unsandboxed("the settings say isolation: none", settings)
        case (nil, .fails(let reason)) where wasSandboxed:
            throw IsolationError(
                "jobs had a sandbox here until now, and it cannot work: \(reason); mend that, or write isolation: none in the settings, with "
                    + "which jobs have all rights of the service's user")
        case (nil, .fails(let reason)): return unsandboxed(reason, settings)
        case (.sandbox, .fails(let reason)):
            throw IsolationError(
                "the settings say isolation: sandbox, and it cannot work here: \(reason); or write isolation: none, with "
                    + "which jobs have all rights of the service's user")
        case (_, .works), (_, .sharesNetwork): break
        }
        let loopback = try loopback(settings, probe, hadOwnNetwork: hadOwnNetwork)
        for path in settings.sandbox.readOnly where access(path, F_OK) != 0 {
            throw IsolationError(
                "sandbox: read-only: \(path) is not there (\(String(cString: strerror(errno)))); correct the settings")
        }
        let hidden = HiddenPaths(
            paths: StateDirectory(path: settings.state).parts + [settings.secrets].compactMap(\.self),
            places: [settings.state])
        for path in settings.sandbox.readOnly {
            guard let shown = hidden.shown(by: path) else { continue }
            throw IsolationError(
                "sandbox: read-only: \(path) would show every job \(shown), which is the service's own; name what jobs need beside it"
            )
        }
        let toolchains = Toolchains.directories(inPath: path)
        var seen = Set<String>()
        let readOnly = ([tools] + toolchains + settings.sandbox.readOnly).filter { seen.insert($0).inserted }
        var decided = JobIsolation(
            isolation: .sandbox, readOnly: readOnly,
            path: Toolchains.path(path, within: toolchains + settings.sandbox.readOnly), images: settings.images,
            loopback: loopback, limits: settings.sandbox)
        decided.hidden = hidden
        return decided
    }

    private static func loopback(
        _ settings: ServiceSettings, _ probe: Probe, hadOwnNetwork: Bool
    ) throws(IsolationError) -> Loopback? {
        switch (settings.sandbox.loopback, probe) {
        case (true, _): return .requested
        case (nil, .sharesNetwork(let reason)) where hadOwnNetwork:
            throw IsolationError(
                "steps had a network of their own here until now, and it cannot be made: \(reason); mend that, or write sandbox: "
                    + "{ loopback: true } in the settings, with which steps that have the network reach what listens on the machine's loopback"
            )
        case (nil, .sharesNetwork(let reason)): return .needed(reason)
        case (false, .sharesNetwork(let reason)):
            throw IsolationError(
                "the settings say loopback: false, and steps cannot have a network without the machine's loopback here: \(reason); or "
                    + "write loopback: true, with which steps that have the network reach what listens on it")
        case (_, _): return nil
        }
    }

    /// Returns the limits of a bot's jobs.
    package func limits(of bot: BotSpecification) -> JobDescription.Limits {
        var limits = JobDescription.Limits(logBytes: bot.logLimit.bytes)
        limits.memoryBytes = self.limits.memory.bytes
        limits.processes = self.limits.processes
        limits.cpuWeight = self.limits.cpuWeight
        limits.workspaceBytes = self.limits.workspace.bytes
        return limits
    }

    private static func unsandboxed(_ reason: String, _ settings: ServiceSettings) -> JobIsolation {
        JobIsolation(isolation: .none(reason: reason), limits: settings.sandbox)
    }
}

/// The reason why the service cannot isolate jobs as its settings require.
package struct IsolationError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
