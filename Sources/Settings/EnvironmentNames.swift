/// Names of environment variables.
enum EnvironmentNames {
    /// `[A-Za-z_][A-Za-z0-9_]*`, at most 128 long: what POSIX shells can name (XCU 3.230, "Name").
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 128, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
        }
    }

    /// Variables that tell about the integration, which a recipe cannot change.
    static func isService(_ name: String) -> Bool {
        name == "CI" || name == "XCS" || name.hasPrefix("XCS_") || name.hasPrefix("MARTLET_")
    }
}
