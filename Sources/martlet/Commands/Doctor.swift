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
        abstract: "Examines the service, its machine and what it connects to, and says what is wrong and what to do.",
        discussion: """
            It examines with the user and the PATH of the service, so run it with sudo. It ends with 0 if there is no problem, with 1 if there is \
            one, and with 78 if the settings cannot be read.
            """)

    @OptionGroup var location: SettingsLocation
    @OptionGroup var colors: ColorOptions
    @Flag(help: "Print the findings as JSON, each with subject, state (ok, problem or note), text and remedy.")
    var json = false

    func run() async throws {
        try await Failure.exiting {
            var report = DoctorReport(terminal: json ? nil : colors.terminal)
            let (settings, file) = try location.find()
            // Root's permissions differ from those of the service's user.
            try ServiceIdentity.assumeIfThere(settings, file: file)
            report.fine("settings", "state \(settings.state), bots \(settings.bots)")
            let unit = await Self.examineUnit(settings, file: file, &report)
            Self.examineSettings(settings, &report)
            let daemon = await Self.examineDaemon(settings, unit, &report)
            let bots = Self.examineBots(settings, &report)
            let store = Self.examineSecrets(settings, bots, unit, &report)
            Self.examineMachine(settings, &report)
            await Self.examineFiles(settings, daemon, &report)
            await Self.examineReader(&report)
            for executor in await Self.executors(settings) {
                if let trouble = executor.trouble {
                    report.problem("executor \(executor.name)", trouble, remedy: "see docs/operating/slurm.md")
                } else {
                    report.fine("executor \(executor.name)", executor.fine)
                }
            }
            await Self.examineIsolation(settings, &report)
            await Self.examineRepositories(bots, store, daemon, &report)
            await Self.examineTargets(settings, bots, store, &report)
            await Self.examineMessages(daemon, &report)
            try report.finish()
        }
    }

    /// Examines names that are nearly those that are read, and what the settings need from others.
    private static func examineSettings(_ settings: ServiceSettings, _ report: inout DoctorReport) {
        for directory in [settings.secrets ?? "", settings.triggers] where !directory.isEmpty {
            if let other = NearMiss.directory(inPlaceOf: directory) {
                report.problem(
                    "directory", "there is no \(directory), but \(other), which is not read", remedy: "rename it")
            }
        }
        for sentence in NearMiss.variables(ProcessInfo.processInfo.environment.keys) {
            report.problem("environment", sentence, remedy: "correct its name where it is set")
        }
        do throws(Failure) {
            try settings.trustCertificates()
        } catch {
            report.problem("certificates", error.description, remedy: "then restart the service")
        }
        if let url = settings.url, url.hasPrefix("https:"), settings.proxies.isEmpty {
            report.note(
                "proxy",
                "\(url) needs a proxy in front, which has to pass bodies of 26 MiB (nginx: client_max_body_size); limits for "
                    + "each client need `proxies`; see docs/operating/reverse-proxy.md")
        }
    }

    /// Examines the bot files.
    /// - Returns: The bots whose files are right.
    private static func examineBots(_ settings: ServiceSettings, _ report: inout DoctorReport) -> [BotSpecification] {
        let bots = BotDirectory(directory: settings.bots).scan()
        for problem in bots.problems {
            report.problem(
                "bot file", problem.diagnostics.map(\.description).joined(separator: "; "),
                remedy: "correct it; `martlet lint \(problem.file)` checks it")
        }
        if !bots.bots.isEmpty {
            report.fine("bots", "\(bots.bots.count)")
        } else if bots.problems.isEmpty {
            report.note("bots", "there is none yet; `martlet init --write URL` makes one in \(settings.bots)")
        }
        let mailing = bots.bots.filter { bot in
            (bot.notices ?? []).contains { if case .mail = $0.target { true } else { false } }
        }.map(\.name.description)
        if !mailing.isEmpty {
            if let mail = settings.mail {
                report.fine("mail", mail.server)
            } else {
                report.problem(
                    "mail",
                    "\(mailing.prefix(5).joined(separator: ", ")) would mail its notices, and the settings have no `mail`",
                    remedy: "see docs/reference/settings.md")
            }
        }
        return bots.bots
    }

    /// Examines whether every secret that is named is stored, and every stored one can be read.
    /// - Returns: The secrets, as the service reads them.
    private static func examineSecrets(
        _ settings: ServiceSettings, _ bots: [BotSpecification], _ unit: SystemdUnit?, _ report: inout DoctorReport
    ) -> SecretStore {
        let store = SecretStore(
            directory: settings.secrets,
            credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
        for missing in MissingSecret.find(SecretUse.all(of: settings, bots), in: store) {
            // One that cannot be read is found among the files below.
            guard let remedy = missing.remedy else { continue }
            if unit?.credentials.contains(missing.use.name) == true {
                report.note(
                    "secret", "\(missing.use.name) is a credential of the unit, which only the service can read")
            } else if unit == nil, access("/run/systemd/system", F_OK) == 0 {
                report.note("secret", missing.reason + ", unless it is a credential of the unit", remedy: remedy)
            } else {
                report.problem("secret", missing.reason, remedy: remedy)
            }
        }
        guard let directory = settings.secrets else { return store }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            if access(directory, F_OK) == 0 || errno == EACCES {
                report.problem(
                    "secret", "\(directory) cannot be read by \(NSUserName()): \(error.localizedDescription)",
                    remedy: "give it to the service's user: `chown -R USER \(directory)`, `chmod 700 \(directory)`")
            }
            return store
        }
        for name in names.sorted().prefix(maximumSecrets) where SecretStore.isName(name) {
            do throws(SettingsError) {
                _ = try store.value(name)
            } catch {
                report.problem("secret", error.description, remedy: "the service's user is \(NSUserName())")
            }
        }
        return store
    }

    /// The most secrets that are examined.
    private static let maximumSecrets = 1000

    /// Examines the tools that jobs use, and the room on the disk.
    private static func examineMachine(_ settings: ServiceSettings, _ report: inout DoctorReport) {
        for (tool, need) in [
            ("swift", "to build Swift packages"), ("make", "to build with Make"), ("clang", "to analyze C sources"),
        ] {
            if let path = find(tool) {
                report.fine(tool, path)
            } else {
                report.problem(tool, "not in PATH", remedy: "install it \(need)")
            }
        }
        let places = [settings.state, StateDirectory(path: settings.state).workspaces]
        let shortages = places.compactMap { place in
            DiskRoom(at: place)?.shortage.map { "the disk is full: \(place) has \($0)" }
        }
        if let shortage = shortages.first {
            report.problem("disk", shortage, remedy: "make room, jobs wait for it")
        } else if let space = FreeSpace(at: settings.state) {
            let free = space.bytes >> 30
            if free < 5 {
                report.problem(
                    "disk", "only \(free) GiB free at \(settings.state)",
                    remedy: "make room; see docs/operating/retention.md")
            } else {
                report.fine("disk", "\(free) GiB free")
            }
        } else {
            report.note("state", "\(settings.state) does not exist yet; `martlet serve` makes it")
        }
    }

    /// Reports damaged published files.
    /// - Parameter daemon: The running service, since only it reads all published files regularly; `nil` if none answers.
    private static func examineFiles(
        _ settings: ServiceSettings, _ daemon: Daemon, _ report: inout DoctorReport
    ) async {
        do {
            let files = try await daemon.get("/api/v1/files/damaged", as: API.DamagedFiles.self)
            for item in files.items {
                let words = item.sentences(state: settings.state)
                report.problem("files", words.text, remedy: words.remedy)
            }
            if let looked = files.looked {
                if files.items.isEmpty {
                    report.fine("files", "all are as they were published; checked at \(looked)")
                }
            } else {
                report.note(
                    "files", "the service has not checked all published files since it started; ask again later")
            }
        } catch {
            report.note(
                "files", "the published files were not checked, because the service could not be asked: \(error)")
        }
    }

    private static func examineReader(_ report: inout DoctorReport) async {
        do {
            let reader = try OwnPrograms.reader()
            let isFiltered = try await SerialQueue(label: "reader").run { try ReaderProbe.isFiltered(reader) }
            if isFiltered {
                report.fine("reader", "reports are read with a filter of system calls")
            } else {
                report.problem("reader", ReaderProbe.unfiltered, remedy: "use a kernel with seccomp")
            }
        } catch {
            report.problem("reader", "\(error)", remedy: "install martlet-reader of this version")
        }
    }

    private static func examineIsolation(_ settings: ServiceSettings, _ report: inout DoctorReport) async {
        let isolation = await isolation(settings)
        if let requested = isolation.requested {
            report.note("isolation", requested)
        } else if let trouble = isolation.trouble {
            report.problem("isolation", trouble, remedy: "see docs/operating/sandbox.md")
        } else {
            report.fine("isolation", isolation.fine)
        }
        switch isolation.loopback {
        case nil: break
        case .requested: report.note("loopback", "\(reached), as the settings say")
        case .needed(let reason):
            report.problem("loopback", "\(reached): \(reason)", remedy: "see docs/operating/sandbox.md")
        }
    }
}

extension API.DamagedFiles.Item {
    /// Describes the damage and how to repair it.
    /// - Parameter state: The path of the state directory, which contains the published files.
    func sentences(state: String) -> (text: String, remedy: String) {
        // Description files have no record of their own: they are verified against the others.
        let isDescription = VersionCheck.descriptions.contains(file)
        return (
            Output.visible(
                "\(product) \(version): \(file) is not what was published (seen \(since)) and not served"),
            Output.visible(
                "restore \(state)/files/\(product)/\(version)/\(file) from a backup"
                    + (isDescription ? "" : "; manifest.json beside it has its SHA-256"))
        )
    }
}
