import Basics
import Model
import Storage

/// Which numbers of integrations something on the disk bears. After the database was lost, or an older one was put back, it counts from a
/// number that is taken: a new commit would then find another's job directory, and be told its result.
struct UsedNumbers: Sendable {
    private let state: StateDirectory
    private let lane = BlockingLane(label: "numbers")

    init(state: StateDirectory) { self.state = state }

    /// The highest number that a directory of the bot's has, of those that wait for their removal, too; none: a bot without any.
    /// - Throws: What the disk says, but for directories that are not there.
    func highest(of bots: [Name]) async throws(FileError) -> [Name: Int] {
        let integrations = state.integrations
        return try await lane.run { () throws(FileError) in
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
                    // A bot's name can have dots, too.
                    guard let dot = entry.name.lastIndex(of: ".") else { continue }
                    note(IntegrationID("\(entry.name[..<dot])#\(entry.name[dot...].dropFirst())"))
                }
            } catch  where error.code == .notFound {
                // Made by the first integration.
            }
            return highest
        }
    }
}
