/// The source files that were compiled, according to a build's log.
///
/// An incremental build prints only the warnings of the files that it compiles again. Warnings of other files still exist, although they were not
/// printed.
package struct CompiledFiles: Sendable {
    /// By file name: the modules named with it; an empty one where the log names none.
    private var modules: [String: Set<String>] = [:]
    /// Modules of which all files were compiled: with optimization SwiftPM compiles a module as a whole and names only its
    /// first file.
    private var whole: Set<String> = []
    private static let production: Needles = ["Building for production"]
    private static let needles: Needles = ["Compiling ", " -c ", "Building for production"]
    /// The most file names that are kept; a warning of another one counts as not compiled again.
    private static let maximumFiles = 100_000
    private static let extensions: Set<String> = ["swift", "c", "cc", "cpp", "cxx", "m", "mm", "S", "s"]

    private var isOptimized = false
    /// Lines of SwiftPM that were taken, so that one of a file that is compiled again costs no string.
    private var taken = CompilingLines(limit: Self.maximumFiles)

    package init() {}

    /// Of a log that is in memory.
    package init(log: [UInt8]) {
        LogLines.forEach(in: log) { take($0) }
    }

    /// Understands SwiftPM's `[5/9] Compiling Kit Parser.swift` and command lines with `-c FILE`, as Make prints them.
    /// - Returns: Whether the line is of SwiftPM's form, and so tells nobody else anything.
    @discardableResult package mutating func take(_ line: LogLine) -> Bool {
        let names = CompilingLines.names(in: line.bytes)
        if let names {
            if taken.insert(names) { take(line.text) }
        } else if line.contains(Self.needles) {
            if !isOptimized, line.contains(Self.production) {
                isOptimized = true
                // From now on their modules are taken as a whole.
                taken = CompilingLines(limit: Self.maximumFiles)
            }
            take(line.text)
        }
        return names != nil
    }

    private mutating func take(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
        let files = words.filter { word in
            guard let dot = word.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
            return Self.extensions.contains(String(word[word.utf8.index(after: dot)...].utf8.prefix(6)) ?? "")
        }
        let place = words.firstIndex(of: "Compiling")
        var module = ""
        if let place, words.count > place + 2 { module = String(words[place + 1]) }
        if isOptimized, !module.isEmpty { whole.insert(module) }
        for file in files where modules.count < Self.maximumFiles {
            let name = file.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? ""
            modules[String(name), default: []].insert(module)
        }
    }

    func write(to writer: inout WireWriter) {
        writer.add(list: modules.map { (name: $0.key, modules: Array($0.value)) }) { writer, file in
            writer.add(file.name)
            writer.add(file.modules)
        }
        writer.add(Array(whole))
    }

    init(from reader: inout WireReader) throws(WireError) {
        let files = try reader.list { (reader) throws(WireError) in (try reader.text(), try reader.textList()) }
        for (name, named) in files { modules[name, default: []].formUnion(named) }
        whole = Set(try reader.textList())
    }

    /// Adds what another step compiled.
    package mutating func formUnion(_ other: CompiledFiles) {
        modules.merge(other.modules) { $0.union($1) }
        whole.formUnion(other.whole)
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
