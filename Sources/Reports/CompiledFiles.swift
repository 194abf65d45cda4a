/// Which source files a build's log says were compiled.
///
/// An incremental build prints only the warnings of the files it compiles again. A warning of another file is still there,
/// although nothing printed it.
package struct CompiledFiles: Sendable {
    /// By file name: the modules named with it; an empty one where the log names none.
    private var modules: [String: Set<String>] = [:]
    /// Modules of which all files were compiled: with optimization SwiftPM compiles a module as a whole and names only its
    /// first file.
    private var whole: Set<String> = []
    private static let extensions: Set<String> = ["swift", "c", "cc", "cpp", "cxx", "m", "mm", "S", "s"]

    /// Understands SwiftPM's `[5/9] Compiling Kit Parser.swift` and command lines with `-c FILE`, as Make prints them.
    package init(log: [UInt8]) {
        var found: [String: Set<String>] = [:]
        var isOptimized = false
        LogScan.forEachLine(in: log, containing: ["Compiling ", " -c ", "Building for production"]) { line in
            let words = line.text.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
            let files = words.filter { word in
                guard let dot = word.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
                return Self.extensions.contains(String(word[word.utf8.index(after: dot)...].utf8.prefix(6)) ?? "")
            }
            let place = words.firstIndex(of: "Compiling")
            var module = ""
            if let place, words.count > place + 2 { module = String(words[place + 1]) }
            if line.contains(["Building for production"]) { isOptimized = true }
            if isOptimized, !module.isEmpty { whole.insert(module) }
            for file in files {
                let name = file.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? ""
                found[String(name), default: []].insert(module)
            }
        }
        modules = found
    }

    /// Whether the log says that the file was compiled. A module's name that is a directory of the path tells files of one
    /// name apart.
    package func contains(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        if path.hasSuffix(".swift"), parts.dropLast().contains(where: { whole.contains(String($0)) }) { return true }
        guard let name = parts.last, let named = modules[String(name)] else { return false }
        return named.contains("") || parts.dropLast().contains { named.contains(String($0)) }
    }
}
