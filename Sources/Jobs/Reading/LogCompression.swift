import Basics
package import Execution
package import Logging
package import Storage

/// Compresses the logs of completed integrations, one at a time on a separate queue, so that no integration waits for it.
///
/// The logs that an earlier daemon left are found at the start. Readers accept both forms, so they are not notified.
package struct LogCompression: Sendable {
    private let store: Store
    private let state: StateDirectory
    private let logger: Logger
    private let queue = SerialQueue(label: "compress")

    package init(store: Store, state: StateDirectory, logger: Logger) {
        self.store = store
        self.state = state
        self.logger = logger
    }

    /// Runs until the task is canceled.
    package func run() async {
        // It subscribes first, so that integrations that complete while it works are not missed.
        let completions = store.completions()
        for integration in await all() { await compress(integration) }
        for await id in completions { await compress(state.integration(id)) }
    }

    /// Returns the directories of all integrations.
    private func all() async -> [String] {
        await queue.run {
            Self.directories(in: state.integrations).flatMap(Self.directories)
        }
    }

    /// Compresses the logs of an integration. Attempts whose jobs have not finished are skipped.
    /// - Parameter integration: The absolute path of its directory.
    private func compress(_ integration: String) async {
        let attempts = await queue.run { Self.directories(in: integration).flatMap(Self.directories) }
        for path in attempts where !Task.isCancelled {
            do throws(ExecutionError) {
                try await queue.run { () throws(ExecutionError) in try AttemptDirectory(path: path).compressLog() }
            } catch {
                // The log stays as it was, and can be read. The next start tries again.
                logger.warning("a log could not be compressed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Returns the directories in a directory. Empty if it cannot be read, because retention may have removed it.
    private static func directories(in path: String) -> [String] {
        guard let directory = try? Directory(opening: path), let entries = try? directory.entries() else { return [] }
        // A directory whose name begins with a dot is being removed.
        return entries.filter { $0.kind == .directory && $0.bytes.first != UInt8(ascii: ".") }.map {
            "\(path)/\($0.name)"
        }
    }
}
