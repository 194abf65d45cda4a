import Encodings
import Model
import Transfer

/// The parts of a SARIF log that are written, under SARIF's names.
struct SARIFOutput: Encodable {
    var schema = "https://json.schemastore.org/sarif-2.1.0.json"
    var version = "2.1.0"
    var runs: [Run]

    enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version, runs
    }

    struct Run: Encodable {
        var tool: Tool
        var automationDetails: Identifier
        var versionControlProvenance: [Provenance]?
        var results: [Result]
        var invocations: [Invocation]?
    }

    struct Invocation: Encodable {
        var executionSuccessful = true
        var toolExecutionNotifications: [Notification]
    }

    struct Notification: Encodable {
        var level = "warning"
        var message: Text
    }

    struct Tool: Encodable { var driver: Driver }

    struct Driver: Encodable {
        var name: String
        var version: String
        var rules: [Identifier]
    }

    struct Identifier: Encodable { var id: String }

    struct Provenance: Encodable {
        var repositoryUri: String
        var revisionId: String?
        var branch: String?
    }

    struct Text: Encodable { var text: String }

    struct Suppression: Encodable {
        var kind = "external"
        var status = "accepted"
        var justification: String?
    }

    struct Location: Encodable {
        struct Physical: Encodable {
            var artifactLocation: Artifact
            var region: Region?
        }

        struct Artifact: Encodable {
            var uri: String
            var uriBaseId: String?
        }

        struct Region: Encodable {
            var startLine: Int
            var startColumn: Int?
        }

        var physicalLocation: Physical
    }

    struct Properties: Encodable {
        var category: String
        var age: Int
        var configurations: [String]
        var since: Int?
        var introducedBy: Introduction?
    }

    struct Result: Encodable {
        var ruleId: String
        var ruleIndex: Int
        var level: String
        var message: Text
        var locations: [Location]?
        var partialFingerprints: [String: String]
        var baselineState: String
        var suppressions: [Suppression]?
        var properties: Properties

        init(_ issue: Issue, rule: String, index: Int) {
            let finding = issue.finding
            ruleId = rule
            ruleIndex = index
            level =
                switch finding.category {
                case .error, .testFailure, .triggerError: "error"
                case .warning, .analyzerWarning: "warning"
                }
            // Users search for a test's full name.
            let name = finding.category == .testFailure && !finding.rule.isEmpty ? finding.rule + ": " : ""
            message = Text(text: name + finding.message)
            locations = finding.path.map { path in
                // A path outside of the repository is no file of it.
                let isInside = !path.hasPrefix("/") && !path.hasPrefix("..") && !path.contains("://")
                let encoded = PercentEncoding.encode(path: path)
                let artifact = Location.Artifact(
                    uri: path.hasPrefix("/") ? "file://" + encoded : encoded, uriBaseId: isInside ? "%SRCROOT%" : nil)
                let region = finding.line.map { Location.Region(startLine: $0, startColumn: finding.column) }
                return [Location(physicalLocation: .init(artifactLocation: artifact, region: region))]
            }
            partialFingerprints = ["martlet/v1": issue.fingerprint]
            baselineState =
                switch issue.status {
                case .new: "new"
                case .unresolved, .silenced: "unchanged"
                case .resolved: "absent"
                }
            suppressions = issue.status == .silenced ? [Suppression(justification: issue.silence?.reason)] : nil
            properties = Properties(
                category: finding.category.rawValue, age: issue.age,
                configurations: issue.configurations.map { "\($0)" }, since: issue.since,
                introducedBy: issue.introducedBy)
        }
    }
}
