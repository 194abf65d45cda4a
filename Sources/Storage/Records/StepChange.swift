/// A step as it started or ended.
package struct StepChange: Sendable, Hashable {
    package var step: StepRecord
    /// Whether the attempt enters the step with it.
    package var isEntered: Bool

    package init(_ step: StepRecord, isEntered: Bool = false) {
        self.step = step
        self.isEntered = isEntered
    }
}
