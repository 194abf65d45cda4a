import TestSupport
import Testing

@testable import Settings

@Suite struct SettingsChangeTests {
    private func read(_ yaml: String) throws -> ServiceSettings {
        let defaults = ServiceSettings.Defaults.system(processors: 4)
        return try #require(SettingsReader.read(yaml: yaml, file: "martlet.yml", defaults: defaults).value)
    }

    @Test func testThatEveryKeyIsCompared() {
        #expect(SettingsChange.comparisons.map(\.key).sorted() == Keys.currentNames(Keys.settings).sorted())
    }

    @Test(arguments: [
        ("", []), ("concurrency: 3", ["concurrency"]), ("listen: 127.0.0.1:1\nhosts: [a]", ["hosts", "listen"]),
        ("retention: { age: 3d }\nsandbox: { processes: 99 }", ["retention", "sandbox"]),
        ("mail: { server: smtps://h, from: a@b.example }", ["mail"]), ("anonymous: none", ["anonymous"]),
        (
            "state: /srv/s\nexecutors: { c: { slurm: { shared: /srv, work: /tmp/w } } }\ndefault-executor: c",
            ["default-executor", "executors", "state"]
        ),
    ])
    func testThatWhatDiffersIsNamed(_ yaml: String, _ keys: [String]) throws {
        #expect(SettingsChange.keys(from: try read(""), to: try read(yaml)) == keys)
        #expect(SettingsChange.keys(from: try read(yaml), to: try read(yaml)) == [])
    }
}
