import Basics
import Execution
import Integrations
import Jobs
import Logging
import ServiceLifecycle
import SourceControl

/// Logs once what the machine's report reader and `git` support. Each query starts a process, so they run after the service listens, which depends on
/// neither.
struct MachineReport: Service, CustomStringConvertible {
    let description = "report on the machine"
    let reader: ReaderProgram
    let mirrors: Mirrors
    /// Finishes when every address is bound.
    let listening: AsyncStream<Never>
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in listening {}
            if Task.isCancelled { return }
            await logFilter()
            await logProgram()
        }
        // A service that returned earlier would end the other services.
        try await gracefulShutdown()
    }

    private func logFilter() async {
        do {
            let isFiltered = try await SerialQueue(label: "reader").run { try ReaderProbe.isFiltered(reader) }
            if !isFiltered { logger.warning("\(ReaderProbe.unfiltered)") }
        } catch {
            logger.warning("reports cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func logProgram() async {
        do throws(SourceControlError) {
            if let program = try await mirrors.program() {
                logger.info("git servers are asked by the machine's git too", metadata: ["git": "\(program)"])
            } else {
                logger.warning("there is no git that is new enough: git servers are asked by libgit2 alone")
            }
        } catch {
            logger.warning("git cannot be asked for its version", metadata: ["error": "\(error)"])
        }
    }
}
