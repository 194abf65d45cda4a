/// The contents of a commit's `.gitmodules` (gitmodules(5), with the syntax of git-config(1)): a URL for each path.
///
/// The service has its own parser, because libgit2 would follow `include.path` to files of this machine. Names of sections are never used, so that
/// none can become a path (CVE-2018-11235).
struct ModulesFile {
    struct Module {
        var path: [UInt8]?
        var url: String?
        var update: String?
    }

    /// The largest size in bytes. A larger file counts as missing.
    static let maximumSize = 256 << 10

    /// The modules that have a path, by path. A later section takes precedence, as in git.
    private(set) var modules: [[UInt8]: Module] = [:]

    init(_ bytes: [UInt8]) {
        var sections: [[UInt8]: Module] = [:]
        var order: [[UInt8]] = []
        var current: [UInt8]?
        for line in Self.lines(bytes) {
            let text = Self.trimmed(line)
            guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
            if first == UInt8(ascii: "[") {
                current = Self.isModule(text) ? Array(text) : nil
                if let current, sections[current] == nil {
                    sections[current] = Module()
                    order.append(current)
                }
                continue
            }
            guard let current, let equals = text.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = String(decoding: Self.trimmed(text[..<equals]), as: UTF8.self).lowercased()
            guard let value = Self.value(Self.trimmed(text[text.index(after: equals)...])) else { continue }
            switch key {
            case "path": sections[current]?.path = value
            case "url": sections[current]?.url = String(decoding: value, as: UTF8.self)
            case "update": sections[current]?.update = String(decoding: value, as: UTF8.self)
            default: break
            }
        }
        for name in order {
            if let module = sections[name], let path = module.path { modules[path] = module }
        }
    }

    /// Returns the lines. A line that ends with a backslash continues in the next.
    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var open: [UInt8]?
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            var line = (open ?? []) + part
            open = nil
            let slashes = line.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if slashes % 2 == 1 {
                line.removeLast()
                open = line
            } else {
                lines.append(line)
            }
        }
        return lines + (open.map { [$0] } ?? [])
    }

    private static func isModule(_ header: ArraySlice<UInt8>) -> Bool {
        let name = header.dropFirst().prefix { !" \t]\"".utf8.contains($0) }
        return String(decoding: name, as: UTF8.self).lowercased() == "submodule" && header.last == UInt8(ascii: "]")
    }

    private static func trimmed(_ bytes: some Collection<UInt8>) -> ArraySlice<UInt8> {
        var result = Array(bytes)[...]
        while let first = result.first, first == 0x20 || first == 0x09 { result.removeFirst() }
        // A carriage return at the end belongs to the line, not to the value.
        while let last = result.last, last == 0x20 || last == 0x09 || last == 0x0d { result.removeLast() }
        return result
    }

    /// Returns a value without quotes, escapes and comments; `nil` if git would refuse it.
    private static func value(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var (result, isQuoted, kept) = ([UInt8](), false, 0)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                kept = result.count
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst(),
                    let plain = [0x6e: 0x0a, 0x74: 0x09, 0x62: 0x08, 0x22: 0x22, 0x5c: 0x5c][next] as UInt8?
                else { return nil }
                result.append(plain)
                kept = result.count
            case UInt8(ascii: "#") where !isQuoted, UInt8(ascii: ";") where !isQuoted:
                rest = []
            default:
                result.append(byte)
                if isQuoted || (byte != 0x20 && byte != 0x09) { kept = result.count }
            }
        }
        return isQuoted ? nil : Array(result[..<kept])
    }
}
