import Model
import TestSupport
import Testing

@Suite struct IntegrationStateTests {
    static let steps: [IntegrationStep] = [.preparing, .beforeTriggers, .running, .afterTriggers, .uploading]
    static let states: [IntegrationState] =
        [.queued] + steps.map { .running($0) } + [.completed(.succeeded, triggerFailed: false)]
    static let events: [IntegrationState.Event] =
        [.started] + IntegrationStep.allCases.map { .entered($0) }
        + [.completed(.warnings, triggerFailed: true), .reopened]

    /// Returns the state after an event; events that are not listed are refused.
    static func expected(_ state: IntegrationState, _ event: IntegrationState.Event) -> IntegrationState? {
        switch (state, event) {
        case (.queued, .started): .running(.preparing)
        case (.queued, .completed), (.running, .completed): .completed(.warnings, triggerFailed: true)
        case (.completed, .reopened): .queued
        case (.running, .entered(let step)): steps.contains(step) ? .running(step) : nil
        default: nil
        }
    }

    @Test(.proves(.model, "States of integrations and attempts as enums with `apply(_:)`"), arguments: states, events)
    func testThatEveryTransitionIsAllowedOrRefusedAsTheTableSays(
        state: IntegrationState, event: IntegrationState.Event
    ) {
        // given
        var changed = state
        // when
        let isAllowed = (try? changed.apply(event)) != nil
        // then
        let expected = Self.expected(state, event)
        #expect(isAllowed == (expected != nil))
        #expect(changed == expected ?? state)
    }

    @Test(
        .proves(
            .model,
            "Steps of an integration: pending, preparing, before-triggers, running, after-triggers, uploading, completed"
        ))
    func testThatItsWordsAreTheInterfaces() {
        #expect(Self.states.map(\.word) == ["queued"] + Self.steps.map { _ in "running" } + ["completed"])
        #expect(Self.states.map(\.step) == [.pending] + Self.steps + [.completed])
        #expect(IntegrationState.completed(.warnings, triggerFailed: true).result == .triggerError)
        #expect(IntegrationState.queued.result == nil)
    }

    @Test func testThatARefusalNamesStateAndEvent() {
        var state = IntegrationState.queued
        let error = #expect(throws: IllegalTransition.self) { try state.apply(.reopened) }
        #expect(error?.description == "reopened is not possible in the state queued")
    }
}

@Suite struct AttemptStateTests {
    static let states: [AttemptState] =
        [.queued] + JobStep.allCases.map { .running($0) } + [.ended, .processed(.canceled)]
    static let events: [AttemptState.Event] = JobStep.allCases.map { .entered($0) } + [.ended, .processed(.succeeded)]

    static func expected(_ state: AttemptState, _ event: AttemptState.Event) -> AttemptState? {
        switch (state, event) {
        case (.queued, .entered(let step)): .running(step)
        // Steps are in the order of their declaration, which is a job's order.
        case (.running(let now), .entered(let step)):
            (JobStep.allCases.firstIndex(of: step) ?? 0) >= (JobStep.allCases.firstIndex(of: now) ?? 0)
                ? .running(step) : nil
        case (.queued, .ended), (.running, .ended): .ended
        case (.queued, .processed), (.running, .processed), (.ended, .processed): .processed(.succeeded)
        default: nil
        }
    }

    @Test(.proves(.model, "States of integrations and attempts as enums with `apply(_:)`"), arguments: states, events)
    func testThatEveryTransitionIsAllowedOrRefusedAsTheTableSays(state: AttemptState, event: AttemptState.Event) {
        var changed = state
        let isAllowed = (try? changed.apply(event)) != nil
        let expected = Self.expected(state, event)
        #expect(isAllowed == (expected != nil))
        #expect(changed == expected ?? state)
    }

    @Test func testThatItsWordsAreTheInterfaces() {
        #expect(Set(Self.states.map(\.word)) == ["queued", "running", "ended", "processed"])
        #expect(AttemptState.processed(.warnings).verdict == .warnings)
        #expect(AttemptState.ended.verdict == nil)
    }
}
