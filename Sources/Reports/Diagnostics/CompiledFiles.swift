import Glibc

/// The source files that were compiled, according to a build's log.
///
/// An incremental build prints only the warnings of the files that it compiles again. Warnings of other files still exist, although they were not
/// printed.
package struct CompiledFiles: Sendable {
    /// The modules of each file name; an empty module name if the log states none.
    private var modules: [String: Set<String>] = [:]
    /// The modules of which all files were compiled. With optimization, SwiftPM compiles a module as a whole and prints only its first file.
    private var whole: Set<String> = []
    private static let production: Needles = ["Building for production"]
    private static let needles: Needles = ["Compiling ", " -c ", "Building for production"]
    /// The most file names that are stored. A warning of another file counts as not compiled again.
    private static let maximumFiles = 100_000
    /// The extensions of source files, indexed by their length in bytes.
    private static let extensions: [[StaticString]] = [
        [], ["c", "m", "S", "s"], ["cc", "mm"], ["cpp", "cxx"], [], ["swift"],
    ]

    private var isOptimized = false
    /// The SwiftPM lines that were read, so that repeated lines of one file need no string.
    private var taken = CompilingLines(limit: Self.maximumFiles)

    package init() {}

    /// Reads a log that is in memory.
    package init(log: [UInt8]) {
        LogLines.forEach(in: log) { consume($0) }
    }

    /// Reads a line of a log. It recognizes SwiftPM's `[5/9] Compiling Kit Parser.swift` and command lines with `-c FILE`, as Make prints them.
    /// - Returns: Whether the line has SwiftPM's form, so that it contains no information for other readers.
    @discardableResult package mutating func consume(_ line: LogLine) -> Bool {
        let names = CompilingLines.names(in: line.bytes)
        if let names {
            if taken.insert(names) { line.withPlainBytes { consume($0) } }
        } else if line.contains(Self.needles) {
            if !isOptimized, line.contains(Self.production) {
                isOptimized = true
                // From now on, modules are recorded as a whole.
                taken = CompilingLines(limit: Self.maximumFiles)
            }
            line.withPlainBytes { consume($0) }
        }
        return names != nil
    }

    /// Reads the names in a line's words. Only names are converted to strings, since most lines with `Compiling` name no source file of the
    /// repository.
    private mutating func consume(_ line: UnsafeRawBufferPointer) {
        guard isOptimized || modules.count < Self.maximumFiles && Self.namesSource(line) else { return }
        var words = LineWords(line)
        var files: [UnsafeRawBufferPointer] = []
        // `module` is the word after `Compiling`. It is a module's name if another word follows.
        var (module, compiling, count) = (words.none, Int?.none, 0)
        while let word = words.next() {
            if let compiling {
                if count == compiling + 1 { module = word }
            } else if word.elementsEqual(Self.compiling) {
                compiling = count
            }
            if Self.isSource(word) { files.append(word) }
            count += 1
        }
        let name = compiling.map { count > $0 + 2 } == true ? String(decoding: module, as: UTF8.self) : ""
        if isOptimized, !name.isEmpty { whole.insert(name) }
        for file in files where modules.count < Self.maximumFiles {
            let start = file.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            modules[String(decoding: file[start...], as: UTF8.self), default: []].insert(name)
        }
    }

    private static let compiling = Array("Compiling".utf8)

    /// Returns whether a word of the line ends like the name of a source file.
    private static func namesSource(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let base = line.baseAddress else { return false }
        var place = 0
        while let found = memchr(base + place, Int32(UInt8(ascii: ".")), line.count - place) {
            place = UnsafeRawPointer(found) - base + 1
            var end = place
            while end < line.count, end - place < extensions.count, line[end] != UInt8(ascii: " ") { end += 1 }
            let isEnd = end == line.count || line[end] == UInt8(ascii: " ")
            if isEnd, isExtension(UnsafeRawBufferPointer(rebasing: line[place..<end])) { return true }
        }
        return false
    }

    /// Returns whether the text after the word's last dot is one of `extensions`.
    private static func isSource(_ word: UnsafeRawBufferPointer) -> Bool {
        guard let dot = word.suffix(extensions.count).lastIndex(of: UInt8(ascii: ".")) else { return false }
        return isExtension(UnsafeRawBufferPointer(rebasing: word[(dot + 1)...]))
    }

    private static func isExtension(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let base = text.baseAddress, text.count < extensions.count else { return false }
        return extensions[text.count].contains { memcmp(base, $0.utf8Start, text.count) == 0 }
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

    /// Adds the files that another step compiled.
    package mutating func formUnion(_ other: CompiledFiles) {
        modules.merge(other.modules) { $0.union($1) }
        whole.formUnion(other.whole)
    }

    /// Returns whether the log shows that the file was compiled. Files of one name are distinguished by the module's name, which must be a directory
    /// of the path.
    package func contains(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        if path.hasSuffix(".swift"), parts.dropLast().contains(where: { whole.contains(String($0)) }) { return true }
        guard let name = parts.last, let named = modules[String(name)] else { return false }
        return named.contains("") || parts.dropLast().contains { named.contains(String($0)) }
    }
}

/// The words of a line, separated by blanks.
private struct LineWords {
    private let line: UnsafeRawBufferPointer
    private var start = 0

    init(_ line: UnsafeRawBufferPointer) { self.line = line }

    /// An empty word.
    var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: line[..<0]) }

    mutating func next() -> UnsafeRawBufferPointer? {
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        guard start < line.count, let base = line.baseAddress else { return nil }
        let found = memchr(base + start, Int32(UInt8(ascii: " ")), line.count - start)
        let end = found.map { UnsafeRawPointer($0) - base } ?? line.count
        defer { start = end }
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }
}
