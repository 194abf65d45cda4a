import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct ExecutorSettingsTests {
    private static let defaults = ServiceSettings.Defaults(
        file: "/etc/martlet/martlet.yml", state: "/srv/martlet/state", bots: "/etc/martlet/bots", secrets: nil,
        concurrency: 1)

    private func read(_ yaml: String) -> Reading<ServiceSettings> {
        SettingsReader.read(yaml: yaml, file: "martlet.yml", defaults: Self.defaults)
    }

    @Test(
        .proves(
            .settings,
            "`executors` names clusters beside `local`, in the order in which they are tried; `default-executor` goes first"
        ))
    func testThatExecutorsHaveTheirOrder() throws {
        // given
        let yaml = """
            executors:
              cluster: { slurm: { partition: main, account: ci, shared: /srv/martlet/, work: /var/tmp/martlet, options: [--qos=ci], jobs: 8, wait: 2h } }
              local:
            default-executor: cluster
            """
        // when
        let settings = try #require(read(yaml).value)
        // then
        let slurm = SlurmSettings(
            partition: "main", account: "ci", shared: "/srv/martlet", work: "/var/tmp/martlet", options: ["--qos=ci"],
            jobs: 8,
            wait: .seconds(7200))
        #expect(
            settings.executors == [
                .init(name: Name(nearest: "cluster"), slurm: slurm), .init(name: ExecutorSettings.local),
            ])
        #expect(settings.defaultExecutor == Name(nearest: "cluster"))
        // Integrations wait for the slots of the machine and of the cluster.
        #expect(settings.runningIntegrations == settings.concurrency + 8 + 1)
        #expect(try #require(read("").value).executors == [.init(name: ExecutorSettings.local)])
        let other = "executors: { far: { slurm: { shared: /srv, work: /w } } }"
        #expect(try #require(read(other).value).executors.map(\.name.description) == ["local", "far"])
    }

    @Test(arguments: [
        ("executors: { far: {} }", "no `slurm`"),
        ("executors: { far: { slurm: { work: /w } } }", "needs `shared`"),
        ("executors: { far: { slurm: { shared: /srv } } }", "needs `work`"),
        ("executors: { far: { slurm: { shared: /other, work: /w } } }", "is not in `shared`"),
        ("executors: { far: { slurm: { shared: srv, work: /w } } }", "absolute path"),
        ("executors: { far: { slurm: { shared: /srv, work: /w/../x } } }", "absolute path"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, partition: 'a,b' } } }", "one name"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, options: [--requeue] } } }", "set by Martlet"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, options: [--req] } } }", "set by Martlet"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, options: [-a] } } }", "not a long option"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, jobs: 0 } } }", "`jobs`"),
        ("executors: { far: { slurm: { shared: /srv, work: /w, wait: 1s } } }", "`wait`"),
        ("executors: { local: { slurm: { shared: /srv, work: /w } } }", "local"),
        ("executors: []", "is a mapping"),
        ("default-executor: moon", "there is only local"),
    ])
    func testThatAMistakeIsToldWithItsLine(yaml: String, words: String) {
        let reading = read(yaml)
        #expect(reading.value == nil)
        #expect(reading.diagnostics.contains { $0.description.contains(words) }, "\(reading.diagnostics)")
    }

    @Test func testThatNeedsAreReadAndBounded() throws {
        func needs(_ text: String) -> (JobNeeds?, [String]) {
            let yaml = "configurations: { debug: { build: make, needs: \(text) } }"
            let reading = RecipeReader.read(yaml: yaml, file: ".martlet.yml", project: .unknown)
            return (reading.value?.configurations.first?.needs, reading.diagnostics.map(\.description))
        }
        let (read, _) = needs("{ cpus: 8, memory: 16GiB, features: [arm64, swift-6.3], executor: cluster, time: 2h }")
        #expect(
            read
                == JobNeeds(
                    cpus: 8, memory: .gibibytes(16), features: ["arm64", "swift-6.3"],
                    executor: Name(nearest: "cluster"),
                    time: .seconds(7200)))
        for (text, words) in [
            ("{ cpus: 0 }", "`cpus`"), ("{ memory: 1MiB }", "`memory`"), ("{ features: ['a&b'] }", "not a feature"),
            ("{ features: ['--x'] }", "not a feature"), ("{ time: 1s }", "`time`"), ("{ gpus: 1 }", "no key"),
        ] {
            let (_, told) = needs(text)
            #expect(told.contains { $0.contains(words) }, "\(text): \(told)")
        }
    }
}
