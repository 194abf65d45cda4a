package import Model
import Reports
package import Storage

/// An integration's issues and tests in the forms that other tools read.
package enum IntegrationReports {
    /// Issues as SARIF 2.1.0.
    /// - Parameter version: This program's.
    package static func sarif(
        _ issues: [Issue], of record: IntegrationRecord, version: String
    ) -> [UInt8] {
        let ref = record.ref.shortName
        let origin = SARIFWriter.Origin(
            version: version, automation: "\(record.id.bot)/\(ref)/\(record.id.number)",
            // A path of this machine is no URI, and nobody else's business.
            repository: record.repository.contains("://") ? record.repository : nil,
            commit: record.commit.description, branch: ref)
        return SARIFWriter.bytes(issues, origin: origin)
    }

    /// Tests as JUnit XML, a suite for each configuration and suite.
    package static func junit(_ tests: [StoredTest]) -> [UInt8] {
        var order: [Name] = []
        var groups: [Name: [TestResult]] = [:]
        for test in tests {
            if groups[test.configuration] == nil { order.append(test.configuration) }
            groups[test.configuration, default: []].append(test.result)
        }
        return JUnitWriter.bytes(order.map { ($0.description, groups[$0] ?? []) })
    }
}
