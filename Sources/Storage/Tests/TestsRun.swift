/// The requested tests that an attempt ran.
package struct TestsRun: Hashable, Sendable {
    /// The full names of the requested tests that it ran, including skipped ones.
    package var named: Set<String>
    /// Whether it ran any test at all.
    package var isAny: Bool
    /// Whether a test crashed, so that the tests after it did not run.
    package var hasCrashed: Bool

    package init(named: Set<String> = [], isAny: Bool = false, hasCrashed: Bool = false) {
        self.named = named
        self.isAny = isAny
        self.hasCrashed = hasCrashed
    }
}
