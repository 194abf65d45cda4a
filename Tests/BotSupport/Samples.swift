package import Model
package import Storage
import Testing

/// Values that several suites need.
package enum Samples {
    /// Returns a name, which must be valid.
    package static func name(_ text: String) throws -> Name { try #require(Name(text)) }

    /// Returns the commit whose id has this number as its digits.
    package static func commit(_ number: Int) throws -> CommitID {
        let digits = String(number)
        return try #require(CommitID(String(repeating: "0", count: 40 - digits.count) + digits))
    }

    /// Returns an integration of a bot.
    package static func integration(
        _ number: Int = 1, bot: String = "kit", ref: RefName = RefName(branch: "main"), cause: Cause = .push,
        isRelease: Bool = false
    ) throws -> IntegrationRecord {
        IntegrationRecord(
            id: IntegrationID(bot: try name(bot), number: number), rowID: Int64(number), repository: "/kit.git",
            commit: try commit(number), ref: ref, cause: cause, isRelease: isRelease,
            queuedAt: Timestamp(millisecondsSinceEpoch: Int64(number)))
    }

    /// Returns an integration as the scheduler sees it.
    package static func open(
        _ number: Int = 1, bot: String = "kit", ref: RefName = RefName(branch: "main"), cause: Cause = .push,
        isRelease: Bool = false, run: Int = 1, isFork: Bool = false
    ) throws -> OpenIntegration {
        OpenIntegration(
            id: IntegrationID(bot: try name(bot), number: number), rowID: Int64(number), ref: ref,
            commit: try commit(number), cause: cause, isRelease: isRelease, run: run,
            isFork: isFork)
    }

    /// Returns a configuration of a recipe.
    package static func configuration(_ name: String = "debug") throws -> Recipe.Configuration {
        Recipe.Configuration(name: try Self.name(name))
    }
}
