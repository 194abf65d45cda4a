import Basics
import Execution
import Logging
import Model
import Storage

/// Compresses the logs of completed integrations, one at a time on a lane of its own, so that no integration waits for it.
///
/// What a daemon before this one left is found at the start. A reader takes either form, so nobody is told.
struct LogCompression: Sendable {
    private let store: Store
    private let state: StateDirectory
    private let logger: Logger
    private let lane = BlockingLane(label: "compress")

    init(store: Store, state: StateDirectory, logger: Logger) {
        self.store = store
        self.state = state
        self.logger = logger
    }

    /// Runs until the task is canceled.
    func run() async {
        // Listened first: what completes while the directories are gone through, or a log is compressed, is told.
        let completions = store.completions()
        for integration in await all() { await compress(integration) }
        for await id in completions { await compress(state.integration(id)) }
    }

    /// The directories of all integrations. Those of one bot are listed at a time.
    private func all() async -> [String] {
        await lane.run {
            Self.directories(in: state.integrations).flatMap(Self.directories)
        }
    }

    /// - Parameter integration: Its directory, absolute. Attempts whose jobs have not finished are left alone.
    private func compress(_ integration: String) async {
        let attempts = await lane.run { Self.directories(in: integration).flatMap(Self.directories) }
        for path in attempts where !Task.isCancelled {
            do throws(ExecutionError) {
                try await lane.run { () throws(ExecutionError) in try AttemptDirectory(path: path).compressLog() }
            } catch {
                // The log stays as it was, and can be read. The next start tries again.
                logger.warning("a log could not be compressed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// What lies directly in a directory; none when it cannot be read, since retention may have removed it.
    private static func directories(in path: String) -> [String] {
        guard let directory = try? Directory(opening: path), let entries = try? directory.entries() else { return [] }
        // What begins with a dot is on its way out.
        return entries.filter { $0.kind == .directory && $0.bytes.first != UInt8(ascii: ".") }.map {
            "\(path)/\($0.name)"
        }
    }
}
