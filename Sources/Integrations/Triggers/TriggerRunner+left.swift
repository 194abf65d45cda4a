import Basics
import Execution
import Logging
import Model
import Storage

extension TriggerRunner {
    /// Removes what triggers' jobs worked in and a daemon that was killed left: a checkout each, which nobody reads any more. Those of
    /// triggers that run stay; who takes them up removes them.
    func removeLeftWork() async {
        let root = state.integrations
        let found = await SerialQueue(label: "left").run { Self.leftWork(in: root) }
        for left in found where !Task.isCancelled {
            do {
                // Asked after it was found: a trigger is stored as running before anything is made for its job.
                let triggers = try await store.triggers(of: left.id)
                guard !triggers.contains(where: { $0.state == .running && $0.log == left.log }) else { continue }
                let attempt = AttemptDirectory(path: "\(state.path)/\(left.log)")
                guard try await executor.liveness(of: attempt) != .running else { continue }
                try await SerialQueue(label: "left").run { try Directory(opening: root).remove(left.work) }
            } catch {
                // The next start tries again, and at last it goes with the integration.
                logger.warning(
                    "the workspace of a trigger's job could not be removed",
                    metadata: ["path": "\(left.work)", "error": "\(error)"])
            }
        }
    }

    private struct LeftWork: Sendable {
        var id: IntegrationID
        /// The attempt's directory, as it is stored.
        var log: String
        /// Relative to the directory of integrations.
        var work: String
    }

    private static func leftWork(in root: String) -> [LeftWork] {
        var found: [LeftWork] = []
        for bot in names(in: root) {
            for number in names(in: "\(root)/\(bot)") {
                guard let id = IntegrationID("\(bot)#\(number)") else { continue }
                // Versions before this one called it without the underscore; a configuration's directory has nothing of this kind.
                for trigger in names(in: "\(root)/\(bot)/\(number)")
                where trigger.hasPrefix(StateDirectory.triggerPrefix) || trigger.hasPrefix("trigger-") {
                    let place = "\(bot)/\(number)/\(trigger)"
                    for name in names(in: "\(root)/\(place)") where name.hasSuffix(Self.workSuffix) {
                        let attempt = name.dropLast(Self.workSuffix.count)
                        found.append(
                            LeftWork(id: id, log: "integrations/\(place)/\(attempt)", work: "\(place)/\(name)"))
                    }
                }
            }
        }
        return found
    }

    /// Returns the names in a directory; an empty array if it is not a directory, or if retention removes it meanwhile.
    private static func names(in path: String) -> [String] {
        guard let directory = try? Directory(opening: path), let entries = try? directory.entries() else { return [] }
        return entries.filter { $0.kind == .directory && $0.isText }.map(\.name)
    }
}
