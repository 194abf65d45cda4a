import ArgumentParser
import Basics
import CLinux
import Foundation
import Integrations
import Logging
import ServiceLifecycle
import Settings
import UnixSignals

/// The command `martlet serve`: the daemon.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the daemon until SIGTERM. Jobs that run then go on, and the next start takes them up.",
        discussion: "SIGHUP has it read the settings and the bot files again; the log names what needs a restart.")

    @OptionGroup var location: SettingsLocation
    @Option(
        help: "The unix socket for commands. Default: martlet.socket in RUNTIME_DIRECTORY or in the state directory.")
    var socket: String?

    func run() async throws {
        try await Failure.exiting {
            let (settings, file) = try location.find()
            let isRoot = try ServiceIdentity.assume(settings, file: file)
            ServiceIdentity.harden()
            try settings.trustCertificates()
            // When jobs occupy the processors, an answer would wait up to a tick of 4 ms at each of five threads.
            clinux_answer_soon()
            clinux_give_memory_back()
            let control = LogControl(settings.log)
            let journal =
                JournalLogHandler.isConnected(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
                ? JournalSocket() : nil
            LoggingSystem.bootstrap { label in
                guard let journal else {
                    return LineLogHandler(StreamLogHandler.standardError(label: label), control: control)
                }
                return LineLogHandler(JournalLogHandler { journal.send($0) }, control: control)
            }
            let build = try Build(settings: settings, location: location, socket: socket, log: control)
            if isRoot {
                build.logger.warning(
                    "the service runs as root, since only root can read its settings or its bot files and there is no user for it",
                    metadata: ["settings": "\(file)", "user": "\(ServiceIdentity.usualUser)"])
            }
            let group = ServiceGroup(
                configuration: .init(
                    services: try await build.services().map { service in
                        // The service that reloads finishes when the terminal was closed.
                        .init(
                            service: service,
                            successTerminationBehavior: service is ReloadService
                                ? .gracefullyShutdownGroup : .cancelGroup)
                    }, gracefulShutdownSignals: [.sigterm, .sigint], logger: build.logger))
            do {
                try await group.run()
            } catch {
                throw Failure(.unavailable, "\(error)")
            }
            await build.close()
        }
    }
}
