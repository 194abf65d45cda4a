import Execution
import Integrations
import Jobs
import Model
import Releases
import Settings
import SourceControl
import Storage
import TestSupport
import Transfer
import martlet

/// Returns the real operations over the real store. No job is ever started: the service is built and not run.
/// - Parameters:
///   - readsBots: Whether the bot files are read.
///   - probe: What the examination of the launcher and the sandbox finds.
func makeOperations(
    store: Store, directory: TemporaryDirectory, state: String, log: RecordingLogger, readsBots: Bool = false,
    isSandboxed: Bool = false, probe: @escaping ServiceHealth.Probe = { [] }
) async throws -> Operations {
    let settings = ServiceSettings(
        listen: [], url: "http://ci.example", state: state, bots: directory.path("bots"), concurrency: 1)
    let secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
    let parts = IntegrationService.Parts(
        settings: settings, state: StateDirectory(path: state), store: store,
        directory: BotDirectory(directory: directory.path("bots")),
        secrets: secrets,
        mirrors: Mirrors(directory: directory.path("repositories")),
        executor: LocalExecutor(socket: directory.path("launcher.socket"), supervisor: ""),
        uploader: Uploads(uploader: Uploader(transport: try CurlTransport()), secrets: secrets),
        transport: try CurlTransport(), mailTransport: try CurlTransport(), clock: WallClock { WebFixture.now },
        environment: [:],
        tools: "", reader: ReaderProgram(path: ""),
        isolation: isSandboxed
            ? JobIsolation(isolation: .sandbox, loopback: .needed("no slirp4netns"))
            : JobIsolation(isolation: .none(reason: "bwrap is not installed")),
        probe: probe,
        version: "1.2.3",
        logger: log.logger)
    let service = try IntegrationService(parts)
    if readsBots { try await service.prepare() }
    return service.operations
}
