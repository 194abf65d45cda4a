extension Int {
    /// Returns the number with its noun, in the plural unless it is 1: `1 test`, `2 tests`, `0 tests`.
    package func counting(_ noun: StaticString) -> String { "\(self) \(noun)" + (self == 1 ? "" : "s") }
}
