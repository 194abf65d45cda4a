import JobProtocol

/// The C compiler settings of a target's manifest (PackageDescription, `CSetting` and `CXXSetting`), as options of clang.
struct CSettings {
    /// One setting, for one of the two languages.
    private struct Option {
        let isCPlusPlus: Bool
        let words: [String]
    }

    private var options: [Option] = []

    /// Reads the settings of a target. Settings for other platforms, or for the other build configuration, are left out.
    /// - Parameters:
    ///   - json: A target of `swift package dump-package`.
    ///   - directory: The target's directory; search paths are relative to it.
    ///   - configuration: `debug` or `release`.
    init(target json: JSON, directory: String, configuration: String) {
        for element in json["settings"]?.elements ?? [] {
            guard let tool = element["tool"]?.text, ["c", "cxx"].contains(tool),
                Self.holds(element["condition"], configuration), let kind = element["kind"]?.members?.first
            else { continue }
            let value = kind.value["_0"]
            let words: [String]
            switch kind.key {
            case "headerSearchPath": words = value?.text.map { ["-I", "\(directory)/\($0)"] } ?? []
            case "define": words = value?.text.map { ["-D\($0)"] } ?? []
            case "unsafeFlags": words = (value?.elements ?? []).compactMap(\.text)
            default: words = []
            }
            options.append(Option(isCPlusPlus: tool == "cxx", words: words))
        }
    }

    /// Returns the options for a source in C or C++.
    func words(isCPlusPlus: Bool) -> [String] {
        options.filter { $0.isCPlusPlus == isCPlusPlus }.flatMap(\.words)
    }

    private static func holds(_ condition: JSON?, _ configuration: String) -> Bool {
        let platforms = (condition?["platformNames"]?.elements ?? []).compactMap(\.text)
        return (platforms.isEmpty || platforms.contains("linux"))
            && (condition?["config"]?.text.map { $0 == configuration } ?? true)
    }
}
