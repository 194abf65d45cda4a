import Execution
import Jobs
import Model
import TestSupport
import Testing

@Suite struct ExecutorChoiceTests {
    private static let here = MachineOffer(cpus: 2, memory: .gibibytes(8), features: ["x86_64", "debian-12"])
    private static let nodes = [
        MachineOffer(cpus: 64, memory: .gibibytes(256), features: ["x86_64", "big"]),
        MachineOffer(cpus: 16, memory: .gibibytes(64), features: ["arm64"]),
    ]

    private func choose(
        _ needs: JobNeeds?, preferred: String? = nil, nodes: [MachineOffer]? = Self.nodes
    ) async -> String {
        let choice = ExecutorChoice(
            [
                .init(name: Name(nearest: "local"), slots: JobSlots(count: 1)) { [Self.here] },
                .init(name: Name(nearest: "cluster"), work: "/var/tmp/work", slots: JobSlots(count: 1)) { nodes },
            ], preferred: preferred.map { Name(nearest: $0) })
        var configuration = Recipe.Configuration(name: Name(nearest: "debug"))
        configuration.needs = needs
        do throws(PreparationError) {
            return try await choice.choose(for: configuration).name.description
        } catch {
            return "\(error)"
        }
    }

    @Test(
        .proves(
            .steps,
            "`needs: { cpus, memory, features, executor, time }`: the first executor of the settings that has them gets the job"
        ))
    func testThatTheFirstThatFitsIsChosen() async {
        #expect(await choose(nil) == "local")
        #expect(await choose(JobNeeds(cpus: 2, memory: .gibibytes(8), features: ["debian-12"])) == "local")
        #expect(await choose(JobNeeds(cpus: 3)) == "cluster")
        #expect(await choose(JobNeeds(memory: .gibibytes(9))) == "cluster")
        #expect(await choose(JobNeeds(features: ["arm64"])) == "cluster")
        #expect(await choose(JobNeeds(executor: Name(nearest: "cluster"))) == "cluster")
        #expect(await choose(nil, preferred: "cluster") == "cluster")
        #expect(await choose(JobNeeds(features: ["debian-12"]), preferred: "cluster") == "local")
    }

    @Test(.proves(.steps, "What no executor has is a sentence on the integration, with what there is"))
    func testThatWhatNoMachineHasIsASentence() async {
        expectNoDifference(
            await choose(JobNeeds(features: ["riscv"])),
            "no executor has what the configuration debug needs: local has no machine with the feature riscv; its features are debian-12, x86_64; "
                + "cluster has no machine with the feature riscv; its features are arm64, big, x86_64")
        expectNoDifference(
            await choose(JobNeeds(cpus: 32, features: ["arm64"], executor: Name(nearest: "cluster"))),
            "no executor has what the configuration debug needs: cluster has no machine with the feature arm64")
        expectNoDifference(
            await choose(JobNeeds(cpus: 8, executor: Name(nearest: "local"))),
            "no executor has what the configuration debug needs: local has no machine with 8 processors (it has 2)")
        expectNoDifference(
            await choose(JobNeeds(executor: Name(nearest: "moon"))),
            "the configuration debug needs the executor moon, which the settings do not have; there is local, cluster")
    }

    @Test func testThatAnExecutorThatDoesNotAnswerGetsTheJobAndLetsItWait() async {
        #expect(await choose(JobNeeds(features: ["riscv"]), nodes: nil) == "cluster")
    }
}
