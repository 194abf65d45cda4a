import API
import Archives
import ArgumentParser
import Basics
import Execution
import Foundation
import Glibc
import Integrations
import JobProtocol
import Jobs
import Model
import Releases
import Settings

/// The command `martlet doctor`.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks at the machine and the settings, and says what is missing and what to do.")

    @OptionGroup var location: SettingsLocation
    @OptionGroup var colors: ColorOptions

    func run() async throws {
        try await Failure.exiting {
            let terminal = colors.terminal
            var troubles = 0
            func report(_ subject: String, _ trouble: String?, _ fine: String) {
                Output.print(
                    terminal.table([[.result(trouble == nil ? "ok" : "!!"), Cell(subject), Cell(trouble ?? fine)]]))
                if trouble != nil { troubles += 1 }
            }
            /// Prints a line that is not a problem: a setting that works, or one that does not apply yet.
            func remark(_ subject: String, _ text: String) {
                Output.print(terminal.table([[.result("--"), Cell(subject), Cell(text)]]))
            }
            let (settings, file) = try location.find()
            // Root's permissions differ from those of the service's user.
            try ServiceIdentity.assumeIfThere(settings, file: file)
            report("settings", nil, "state \(settings.state), bots \(settings.bots)")
            for directory in [settings.secrets ?? "", settings.triggers] where !directory.isEmpty {
                if let other = NearMiss.directory(inPlaceOf: directory) {
                    report("directory", "there is no \(directory), but \(other), which is not read; rename it", "")
                }
            }
            for sentence in NearMiss.variables(ProcessInfo.processInfo.environment.keys) {
                report("environment", sentence, "")
            }
            let bots = BotDirectory(directory: settings.bots).scan()
            for problem in bots.problems {
                report("bot file", problem.diagnostics.map(\.description).joined(separator: "; "), "")
            }
            if !bots.bots.isEmpty {
                report("bots", nil, "\(bots.bots.count)")
            } else if bots.problems.isEmpty {
                remark("bots", "there is none yet; `martlet init --write URL` makes one in \(settings.bots)")
            }
            let secrets = SecretStore(
                directory: settings.secrets,
                credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
            for missing in MissingSecret.find(SecretUse.all(of: settings, bots.bots), in: secrets) {
                // Under systemd the unit may provide it as a credential, which only the service can see.
                if access("/run/systemd/system", F_OK) == 0 {
                    remark("secret", missing.sentence + ", unless it is a credential of the unit")
                } else {
                    report("secret", missing.sentence, "")
                }
            }
            let mailing = bots.bots.filter { bot in
                (bot.notices ?? []).contains { if case .mail = $0.target { true } else { false } }
            }.map(\.name.description)
            if !mailing.isEmpty {
                report(
                    "mail",
                    settings.mail == nil
                        ? "\(mailing.prefix(5).joined(separator: ", ")) would mail its notices, and the settings have no `mail`; "
                            + "see docs/reference/settings.md" : nil,
                    settings.mail?.server ?? "")
            }
            if let url = settings.url, url.hasPrefix("https:"), settings.proxies.isEmpty {
                remark(
                    "proxy",
                    "\(url) needs a proxy in front, which has to pass bodies of 26 MiB (nginx: client_max_body_size); limits for "
                        + "each client need `proxies`; see docs/operating/reverse-proxy.md")
            }
            for (tool, need) in [
                ("swift", "to build Swift packages"), ("make", "to build with Make"), ("clang", "to analyze C sources"),
            ] {
                let path = Self.find(tool)
                report(tool, path == nil ? "not in PATH; install it \(need)" : nil, path ?? "")
            }
            let places = [settings.state, StateDirectory(path: settings.state).workspaces]
            let shortages = places.compactMap { place in
                DiskRoom(at: place)?.shortage.map {
                    "the disk is full: \(place) has \($0); make room, jobs wait for it"
                }
            }
            if let shortage = shortages.first {
                report("disk", shortage, "")
            } else if let space = FreeSpace(at: settings.state) {
                let free = space.bytes >> 30
                report("disk", free < 5 ? "only \(free) GiB free at \(settings.state)" : nil, "\(free) GiB free")
            } else {
                remark("state", "\(settings.state) does not exist yet; `martlet serve` makes it")
            }
            do {
                let files = try await API.DamagedFiles.ask(settings)
                for item in files.items { report("files", item.sentence(state: settings.state), "") }
                if let looked = files.looked {
                    if files.items.isEmpty {
                        report("files", nil, "all are as they were published; checked at \(looked)")
                    }
                } else {
                    remark("files", "the service has not checked all published files since it started; ask again later")
                }
            } catch let failure as Failure {
                remark(
                    "files",
                    "the published files were not checked, because the service could not be asked: \(failure)")
            }
            do {
                let reader = try OwnPrograms.reader()
                let isFiltered = try await SerialQueue(label: "reader").run { try ReaderProbe.isFiltered(reader) }
                report(
                    "reader", isFiltered ? nil : ReaderProbe.unfiltered,
                    "reports are read with a filter of system calls")
            } catch {
                report("reader", "\(error)", "")
            }
            for executor in await Self.executors(settings) {
                report("executor \(executor.name)", executor.trouble, executor.fine)
            }
            let isolation = await Self.isolation(settings)
            if let requested = isolation.requested {
                remark("isolation", requested)
            } else {
                report("isolation", isolation.trouble, isolation.fine)
            }
            switch isolation.loopback {
            case nil: break
            case .requested: remark("loopback", "\(Self.reached), as the settings say")
            case .needed(let reason): report("loopback", "\(Self.reached): \(reason)", "")
            }
            if troubles > 0 {
                throw Failure(.no, "\(troubles.counting("problem")); each line with !! says what to do")
            }
        }
    }

    /// Determines how jobs are isolated from this machine.
    /// - Returns: The description if isolation works; the problem if it does not; and the description if the settings disable it.
    private static func isolation(
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

    private static let reached = "steps that have the network reach what listens on this machine's loopback"

    /// Returns the path of a program in PATH; `nil` if there is none.
    static func find(_ tool: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(tool)" }
            .first { access($0, X_OK) == 0 }
    }
}

extension API.DamagedFiles.Item {
    /// Describes the damage and how to repair it.
    /// - Parameter state: The path of the state directory, which contains the published files.
    func sentence(state: String) -> String {
        // Description files have no record of their own: they are verified against the others.
        let isDescription = VersionCheck.descriptions.contains(file)
        return Output.visible(
            "\(product) \(version): \(file) is not what was published (seen \(since)) and not served; "
                + "restore \(state)/files/\(product)/\(version)/\(file) from a backup"
                + (isDescription ? "" : "; manifest.json beside it has its SHA-256"))
    }
}

extension API.DamagedFiles {
    /// Asks the running service, since only it reads all published files regularly. It uses the socket in `MARTLET_URL`, or else that of the state
    /// directory or of the installed unit.
    /// - Throws: `Failure` if the service does not answer.
    static func ask(_ settings: ServiceSettings) async throws -> API.DamagedFiles {
        try await ServiceSocket.connect(settings).get(
            "/api/v1/files/damaged", as: API.DamagedFiles.self)
    }
}
