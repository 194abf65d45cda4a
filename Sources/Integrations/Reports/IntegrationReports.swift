package import Model
import Reports
package import Storage

/// Writes an integration's issues and tests in formats that other tools read.
package enum IntegrationReports {
    /// The most results of a SARIF log: the limit of GitHub for one run ("SARIF support for code scanning", GitHub Docs, 2026).
    package static let maximumResults = 25_000
    /// The largest size of all messages of a JUnit report together, in bytes. The messages after that are cut to their first 200 characters.
    package static let maximumMessageBytes = 64 << 20
    private static let cutMessageCharacters = 200

    /// Returns a writer of issues as SARIF 2.1.0.
    /// - Parameters:
    ///   - isWhole: Whether the log contains all issues.
    ///   - version: This program's version.
    package static func sarif(
        isWhole: Bool = true, of record: IntegrationRecord, version: String
    ) -> SARIF {
        let ref = record.ref.shortName
        let origin = SARIFWriter.Origin(
            version: version, automation: "\(record.id.bot)/\(ref)/\(record.id.number)",
            // A path of this machine is no URI, and must not be published.
            repository: record.repository.contains("://") ? record.repository : nil,
            commit: record.commit.description, branch: ref)
        return SARIF(writer: SARIFWriter(origin: origin, isWhole: isWhole))
    }

    /// Writes a SARIF log in pieces: `beginning`, the results, then `end`.
    package struct SARIF: Sendable {
        fileprivate var writer: SARIFWriter

        package var beginning: [UInt8] { writer.beginning }
        package var end: [UInt8] { writer.end }

        /// Returns the results for the next issues.
        package mutating func results(_ issues: [Issue]) -> [UInt8] { writer.results(issues) }
    }

    /// Returns tests as JUnit XML, with a suite for each configuration and suite, piece by piece.
    package static func junit(_ tests: [StoredTest]) -> AnySequence<[UInt8]> {
        var order: [Name] = []
        var groups: [Name: [TestResult]] = [:]
        var bytes = 0
        for var test in tests {
            bytes += test.result.message?.utf8.count ?? 0
            if bytes > maximumMessageBytes {
                test.result.message = test.result.message.map { String($0.prefix(cutMessageCharacters)) }
            }
            if groups[test.configuration] == nil { order.append(test.configuration) }
            groups[test.configuration, default: []].append(test.result)
        }
        return AnySequence(JUnitWriter.Pieces(order.map { ($0.description, groups[$0] ?? []) }))
    }
}
