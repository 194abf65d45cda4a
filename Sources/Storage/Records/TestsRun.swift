/// Which of the tests that were asked for an attempt ran.
package struct TestsRun: Hashable, Sendable {
    /// The full names of those of them that it ran, skipped ones too.
    package var named: Set<String>
    /// Whether it ran any test at all.
    package var isAny: Bool
    /// Whether a test crashed, so that those after it were not run.
    package var hasCrashed: Bool

    package init(named: Set<String> = [], isAny: Bool = false, hasCrashed: Bool = false) {
        self.named = named
        self.isAny = isAny
        self.hasCrashed = hasCrashed
    }
}
