import Basics
import Execution
import Model
import Storage

/// Finds the numbers of integrations that files on the disk use. If the database was lost, or an older one was restored, it could otherwise assign a
/// used number. A new commit would then find another integration's job directory, and get its result.
struct UsedNumbers: Sendable {
    private let state: StateDirectory
    private let queue = SerialQueue(label: "numbers")

    init(state: StateDirectory) { self.state = state }

    /// Returns the highest number of each bot's directories, including those that wait for their removal. Bots without any are missing.
    /// - Throws: `FileError`, except for missing directories.
    func highest(of bots: [Name]) async throws(FileError) -> [Name: Int] {
        let integrations = state.integrations
        return try await queue.run { () throws(FileError) in
            var highest: [Name: Int] = [:]
            func note(_ id: IntegrationID?) {
                if let id, id.number <= Store.maximumUsedNumber {
                    highest[id.bot] = max(highest[id.bot] ?? 0, id.number)
                }
            }
            do throws(FileError) {
                let root = try Directory(opening: integrations)
                for bot in bots where try root.status("\(bot)")?.kind == .directory {
                    for entry in try root.entries("\(bot)") { note(IntegrationID("\(bot)#\(entry.name)")) }
                }
                guard try root.status(RetentionDisk.aside) != nil else { return highest }
                for entry in try root.entries(RetentionDisk.aside) {
                    // A bot's name can contain dots, too.
                    guard let dot = entry.name.lastIndex(of: ".") else { continue }
                    note(IntegrationID("\(entry.name[..<dot])#\(entry.name[dot...].dropFirst())"))
                }
            } catch  where error.code == .notFound {
                // The first integration creates the directory.
            }
            return highest
        }
    }
}
