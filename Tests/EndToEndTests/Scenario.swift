import Basics
import Foundation
import TestSupport
import Testing

/// A directory of `Scenarios`: what a repository and its bot are, and what each integration comes to.
///
///     NN-name/bot.yml        lines of the bot file beside `repository:`; {directory} stands for the test's own directory
///             1/…, 2/…       the files that each commit adds or replaces; `DELETE` lists what it removes
///             triggers/…     the operator's scripts
///             expected.json  see `Expected`
struct Scenario: Sendable, CustomTestStringConvertible {
    /// The expected result of a commit's integration. Missing members may have any value.
    struct Integration: Decodable, Sendable {
        var result: String
        /// The integration's reason contains this.
        var reason: String?
        /// The outcomes by configuration and step.
        var steps: [String: [String: String]]?
        /// The issues in the form of `expectIssues`.
        var issues: [String]?
        var triggers: [String: String]?
        /// A trigger's reason contains this.
        var triggerReasons: [String: String]?
        /// The number of tests that ran.
        var tests: Int?
        /// The page's text about tests, by configuration.
        var tested: [String: String]?
        var analysis: [String: String]?
        /// The lines that the tests executed, by configuration, and their change.
        var coverage: [String: String]?
        /// The versions that are published afterwards, lowest first.
        var versions: [String]?
        /// Files below the test's directory with their texts.
        var files: [String: String]?
        /// A configuration's log contains this.
        var logs: [String: String]?
    }

    struct Expected: Decodable, Sendable {
        /// The branch of the commits; `nil` for `main`.
        var branch: String?
        /// The machine's secrets, by name.
        var secrets: [String: String]?
        var integrations: [Integration]
    }

    let name: String
    let path: String
    let expected: Expected
    /// Lines of the bot file.
    let file: String

    var testDescription: String { name }

    static let directory = Project.root + "/Tests/EndToEndTests/Scenarios"

    /// Returns all scenarios in order of their names.
    static func all() throws -> [Scenario] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted().filter { !$0.hasPrefix(".") }.map(
            Scenario.init)
    }

    init(_ name: String) throws {
        self.name = name
        path = Self.directory + "/" + name
        let bytes = try WholeFile.read(path + "/expected.json", limit: 1 << 20)
        expected = try JSONDecoder().decode(Expected.self, from: Data(bytes))
        file = String(decoding: try WholeFile.read(path + "/bot.yml", limit: 1 << 20), as: UTF8.self)
    }

    /// Returns the text of every file below a folder, by path.
    func files(_ folder: String) throws -> [String: String] {
        let root = try Directory(opening: path)
        guard try root.status(folder) != nil else { return [:] }
        var files: [String: String] = [:]
        try root.walk(folder, limit: 1000) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            guard status.kind == .file else { return }
            files[String(name.dropFirst(folder.count + 1))] = String(
                decoding: try root.read(name, limit: 1 << 20), as: UTF8.self)
        }
        return files
    }
}
