/// Functions that reduce a message to the parts that identify a finding. They remove the directory in which the configuration builds, addresses in
/// memory and names of temporary files.
enum MessageText {
    /// The directories in which tools build. The paths below them differ between configurations.
    private static let buildDirectories: Set<String> = [
        ".build", "build", "Build", "_build", "target", "out", "DerivedData", "bazel-out", "bin", "obj",
    ]

    /// The most bytes of a message that are used. The text after them is a stack or a snippet that does not identify a finding.
    private static let maximumBytes = 4096

    /// Returns a text with one blank for each run of white space, and none at the ends.
    static func normalized(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns a message without build directories, directories of temporary files and addresses.
    static func identifying(_ message: String) -> String {
        let start = String(decoding: message.utf8.prefix(maximumBytes), as: UTF8.self)
        return start.split(whereSeparator: \.isWhitespace).map { word in
            if word.contains("/") { return pathless(word) }
            return withoutAddress(word)
        }.joined(separator: " ")
    }

    /// Returns a text with runs of digits replaced by `#`: a count in a sentence may change while its subject stays the same.
    static func withoutNumbers(_ text: String) -> String {
        var result = ""
        var isInNumber = false
        for character in text {
            let isDigit = character.isASCII && character.isNumber
            if !isDigit { result.append(character) }
            if isDigit, !isInNumber { result.append("#") }
            isInNumber = isDigit
        }
        return result
    }

    /// Returns a path such as `.build/x86_64-unknown-linux-gnu/debug/Kit.build/a.swift` as `.build/…/a.swift`. A file below a build directory is
    /// identified only by its name.
    static func withoutBuildDirectory(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for (place, part) in parts.dropLast().enumerated() {
            guard let directory = buildDirectory(part), let name = parts.last else { continue }
            return (parts[..<place] + [directory, "…", name]).joined(separator: "/")
        }
        return path
    }

    /// Returns the name of a build directory without the configuration; `nil` for other directories.
    private static func buildDirectory(_ name: Substring) -> Substring? {
        for prefix in ["cmake-build", "build"] where name.hasPrefix(prefix + "-") { return Substring(prefix) }
        return buildDirectories.contains(String(name)) ? name : nil
    }

    private static func pathless(_ word: Substring) -> String {
        // Punctuation around the path stays, as in 'a/b':
        guard let start = word.firstIndex(where: { $0.isLetter || $0.isNumber || "/._~-".contains($0) }) else {
            return String(word)
        }
        let end = word.lastIndex { $0.isLetter || $0.isNumber || $0 == "/" } ?? start
        guard start <= end else { return String(word) }
        let path = String(word[start...end])
        let known =
            path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/") ? "/tmp/…" : withoutBuildDirectory(path)
        return word[..<start] + known + word[word.index(after: end)...]
    }

    private static func withoutAddress(_ word: Substring) -> String {
        guard let start = word.utf8.firstRange(of: "0x".utf8) else { return String(word) }
        let rest = word[start.upperBound...].drop(while: \.isHexDigit)
        let digits = word.distance(from: start.upperBound, to: rest.startIndex)
        // Shorter numbers are constants of the code.
        return digits >= 7 ? word[..<start.lowerBound] + "0x…" + rest : String(word)
    }
}
