extension Int {
    /// A number with its noun, as people write it: `1 test`, `2 tests`, `0 tests`.
    package func counting(_ noun: StaticString) -> String { "\(self) \(noun)" + (self == 1 ? "" : "s") }
}
