import Basics
import Execution
import Integrations
import Model
import Releases
import Storage
import TestSupport
package import Testing

extension Bot {
    /// The published versions of the bot's product in the database, lowest first.
    package var publishedVersions: [String] {
        get async throws {
            try await store.versions(of: name).filter { $0.state == .published }.map(\.version).sorted()
                .map(\.description)
        }
    }

    /// Returns the names of a version's files on the disk.
    package func publishedFiles(_ version: String) throws -> [String] {
        try Directory(opening: "\(state.files)/\(name)/\(version)").entries().map(\.name).sorted()
    }

    /// Returns the bytes of a published file.
    package func publishedFile(_ file: String, of version: String) throws -> [UInt8] {
        try WholeFile.read("\(state.files)/\(name)/\(version)/\(file)", limit: 16 << 20)
    }
}

/// Expects exactly these versions to be published: in the database, and complete on the disk.
package func expectPublished(
    by bot: Bot, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let rows = try await bot.publishedVersions
    #expect(rows == expected, "versions by the database", sourceLocation: sourceLocation)
    let versions = try VersionStore(files: bot.state.files, staging: bot.state.staging)
    let directories = try await versions.versions(of: bot.name).sorted().map(\.description)
    #expect(directories == expected, "versions on the disk", sourceLocation: sourceLocation)
    for version in expected {
        let check = try VersionCheck(
            of: "\(bot.state.files)/\(bot.name)/\(version)", signers: AllowedSigners())
        #expect(check.problems == [], "the files of \(version)", sourceLocation: sourceLocation)
    }
    let left = try Directory(opening: bot.state.staging).entries().map(\.name)
    #expect(left.isEmpty, "left in staging/", sourceLocation: sourceLocation)
}
