import Model
import TestSupport
import Testing

@Suite struct JobSecretTests {
    private func name(_ text: String) -> Name { Name(nearest: text) }

    @Test(
        .proves(
            .steps,
            "Secrets for jobs by name, step, configuration and ref; who may not have one is told, and nothing runs"))
    func testThatTheRefDecides() {
        // given
        let secret = JobSecret(
            name: "token", branches: [RefPattern("main"), RefPattern("release/*")], tags: [RefPattern("v*")])
        func isFor(_ ref: RefName) -> Bool { secret.isFor(ref, configuration: name("debug"), step: nil) }
        // then
        #expect(isFor(RefName(branch: "main")))
        #expect(isFor(RefName(branch: "release/1.0")))
        #expect(isFor(RefName(tag: "v1")))
        #expect(!isFor(RefName(branch: "feature")))
        #expect(!isFor(RefName(branch: "v1")), "a branch is not the tag of its name")
        #expect(!isFor(RefName(tag: "main")))
        #expect(!isFor(RefName("refs/pull/1/head")))
    }

    @Test func testThatConfigurationAndStepNarrowIt() {
        // given
        let secret = JobSecret(
            name: "token", branches: [RefPattern("**")], configurations: [name("release")], steps: [name("deploy")])
        let main = RefName(branch: "main")
        // then
        #expect(secret.isFor(main, configuration: name("release"), step: name("deploy")))
        #expect(!secret.isFor(main, configuration: name("debug"), step: name("deploy")))
        #expect(!secret.isFor(main, configuration: name("release"), step: name("build")))
        #expect(!secret.isFor(main, configuration: name("release"), step: nil), "what has no name is none of the steps")
    }
}
