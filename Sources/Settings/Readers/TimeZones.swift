package import Model

/// The system's time zone database. It blocks for as long as reading a small file does.
package enum TimeZones {
    private static let directory = "/usr/share/zoneinfo"
    /// Entries beside the zones: other formats of them, and the machine's own zone.
    private static let others: Set = ["posix", "right", "posixrules", "localtime", "Factory"]
    private static let maximumName = 64

    /// Returns a zone's rules; `nil` for a name that the database does not have.
    package static func rules(of name: String) -> ZoneRules? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isName = parts.allSatisfy { part in
            part.first?.isLetter == true && part.utf8.allSatisfy(isCharacter) && !others.contains(String(part))
        }
        guard isName, name.utf8.count <= maximumName,
            let file = try? SystemFile.read(directory + "/" + name, limit: ZoneRules.maximumSize)
        else {
            // UTC is known even without the database.
            return name == "UTC" ? .utc : nil
        }
        return ZoneRules(file: file.bytes)
    }

    private static func isCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"):
            true
        default: false
        }
    }

    /// Returns every name, for suggestions; empty if the database is not installed.
    static func names() -> [String] {
        func beneath(_ path: String, _ depth: Int) -> [String] {
            // A directory that cannot be read contributes no names.
            let names = (try? SystemFile.names(in: directory + path, limit: 1000)) ?? []
            return names.filter { $0.first?.isUppercase == true && !others.contains($0) }.flatMap { name in
                let inner = depth == 0 ? [] : beneath("\(path)/\(name)", depth - 1)
                return inner.isEmpty ? [String("\(path)/\(name)".dropFirst())] : inner
            }
        }
        return beneath("", 2)
    }
}
