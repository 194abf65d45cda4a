/// Names of environment variables.
enum EnvironmentNames {
    /// Returns whether a text is `[A-Za-z_][A-Za-z0-9_]*` with at most 128 bytes: the names that POSIX shells support (XCU 3.230, "Name").
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 128, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
        }
    }

    /// Returns whether the service sets the variable to describe the integration. A recipe cannot change it.
    static func isService(_ name: String) -> Bool {
        name == "CI" || name == "XCS" || name.hasPrefix("XCS_") || name.hasPrefix("MARTLET_")
    }
}
