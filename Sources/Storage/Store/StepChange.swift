/// The start or the end of a step.
package struct StepChange: Sendable, Hashable {
    package var step: StepRecord
    /// Whether the attempt enters the step with this change.
    package var isEntered: Bool

    package init(_ step: StepRecord, isEntered: Bool = false) {
        self.step = step
        self.isEntered = isEntered
    }
}
