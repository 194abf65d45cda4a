import Basics

/// Reads JSON (RFC 8259) in one pass. Its memory does not grow with the body: what no forge's reader asks for, such as the list of commits, is only
/// checked.
///
/// Foundation's reader is not used, because 26 MiB of `[` and `]` take 2 GB there. If a key comes twice, the last one counts, as in most readers.
struct ForgeJSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var kept = 0

    /// The most levels of arrays and objects; GitHub's deepest body has 9.
    static let maximumDepth = 256
    /// The longest text that is kept, in bytes before unescaping.
    static let maximumStringBytes = 4096
    /// The most values that are kept. A push of the maximum number of refs has about 12 values for each ref.
    static let maximumKept = 200_000

    /// The names of the members that are kept.
    private static let names: Set<String> = [
        "action", "after", "base", "base_branch", "before", "branch", "changes", "clone", "clone_url", "commit",
        "description", "destination", "displayId", "eventKey", "event_name", "fromHash", "fromRef", "fullName",
        "full_name", "git_http_url", "git_ssh_url", "git_url", "hash", "head", "head_branch", "homepage", "href",
        "html", "html_url", "http_url", "id", "iid", "key", "last_commit", "latestCommit", "links", "name", "new",
        "number", "object_attributes", "object_kind", "old", "oldrev", "path_with_namespace", "project",
        "pullRequest", "pull_request", "pullrequest", "push", "ref", "refId", "refLimitExceeded", "ref_type", "repo",
        "repository", "self", "sha", "slug", "source", "source_branch", "ssh_url", "state", "target", "target_branch",
        "title", "toHash", "toRef", "type", "updatedDate", "updated_at", "updated_on", "url", "web_url",
    ]
    private static let longestName = 32

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // RFC 8259 does not allow a byte order mark, but some senders write one.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Reads a JSON text.
    /// - Throws: `.invalid` with the position if it is no JSON; `.tooLarge` if more than `maximumKept` values would be kept.
    static func read(_ bytes: [UInt8]) throws(ForgeError) -> ForgeJSON {
        var reader = ForgeJSONReader(bytes)
        let value = try reader.value(depth: 0, isKept: true)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.malformed("something follows the value") }
        return value
    }

    private func malformed(_ what: String) -> ForgeError {
        ForgeError(.invalid, "the body is no JSON: \(what) at byte \(position)")
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func next(is wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int, isKept: Bool) throws(ForgeError) -> ForgeJSON {
        guard depth <= Self.maximumDepth else { throw malformed("more than \(Self.maximumDepth) levels") }
        if isKept {
            kept += 1
            guard kept <= Self.maximumKept else {
                throw ForgeError(.tooLarge, "the body has more than \(Self.maximumKept) values")
            }
        }
        skipSpace()
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth, isKept: isKept)
        case UInt8(ascii: "["): return try array(depth: depth, isKept: isKept)
        case UInt8(ascii: "\""):
            let text = try string()
            guard isKept else { return .null }
            return text.count <= Self.maximumStringBytes ? .string(decoded(text)) : .longString
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw malformed("it ends too early")
        default:
            let start = position
            try number()
            // Any 18 characters fit into an Int64, which has at most 19 digits.
            guard position - start <= 18 else { return .number(nil) }
            return .number(Int64(String(decoding: bytes[start..<position], as: UTF8.self)))
        }
    }

    private mutating func word(_ word: StaticString, _ value: ForgeJSON) throws(ForgeError) -> ForgeJSON {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[position..<end].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw malformed("an unknown word") }
        position = end
        return value
    }

    private mutating func object(depth: Int, isKept: Bool) throws(ForgeError) -> ForgeJSON {
        var members: [String: ForgeJSON] = [:]
        position += 1
        skipSpace()
        if next(is: UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw malformed("no key") }
            let key = try string()
            skipSpace()
            guard next(is: UInt8(ascii: ":")) else { throw malformed("no colon") }
            let name = isKept && key.count <= Self.longestName ? decoded(key) : ""
            let isWanted = Self.names.contains(name)
            let value = try value(depth: depth + 1, isKept: isWanted)
            if isWanted { members[name] = value }
            skipSpace()
            if next(is: UInt8(ascii: "}")) { return .object(members) }
            guard next(is: UInt8(ascii: ",")) else { throw malformed("no comma") }
        }
    }

    private mutating func array(depth: Int, isKept: Bool) throws(ForgeError) -> ForgeJSON {
        var elements: [ForgeJSON] = []
        position += 1
        skipSpace()
        if next(is: UInt8(ascii: "]")) { return .array(elements) }
        while true {
            let element = try value(depth: depth + 1, isKept: isKept)
            if isKept { elements.append(element) }
            skipSpace()
            if next(is: UInt8(ascii: "]")) { return .array(elements) }
            guard next(is: UInt8(ascii: ",")) else { throw malformed("no comma") }
        }
    }

    /// Checks a string and moves past it.
    /// - Returns: The range of its content in `bytes`, before unescaping.
    private mutating func string() throws(ForgeError) -> Range<Int> {
        position += 1
        let start = position
        while let byte {
            position += 1
            if byte == UInt8(ascii: "\"") { return start..<position - 1 }
            if byte < 0x20 { throw malformed("a control character in a string") }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard let escaped = self.byte else { break }
            position += 1
            if escaped == UInt8(ascii: "u") {
                guard position + 4 <= bytes.count,
                    bytes[position..<position + 4].allSatisfy({ Hexadecimal.digit($0) != nil })
                else { throw malformed("no four hexadecimal digits") }
                position += 4
            } else if !"\"\\/bfnrt".utf8.contains(escaped) {
                throw malformed("an unknown escape")
            }
        }
        throw malformed("a string without end")
    }

    /// Returns the content of a checked string. Invalid UTF-8, and half of a surrogate pair, become U+FFFD.
    private func decoded(_ range: Range<Int>) -> String {
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return String(decoding: bytes[range], as: UTF8.self) }
        var units: [UInt16] = []
        var text = ""
        var plain = range.lowerBound
        var index = range.lowerBound
        func flush(_ end: Int) {
            if plain < end {
                text += String(decoding: units, as: UTF16.self) + String(decoding: bytes[plain..<end], as: UTF8.self)
                units = []
            }
        }
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            flush(index)
            switch bytes[index + 1] {
            case UInt8(ascii: "u"):
                units.append(
                    bytes[index + 2..<index + 6].reduce(0) { $0 << 4 | UInt16(Hexadecimal.digit($1) ?? 0) })
                index += 4
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            case let itself: units.append(UInt16(itself))
            }
            index += 2
            plain = index
        }
        flush(index)
        return text + String(decoding: units, as: UTF16.self)
    }

    /// Checks a number and moves past it (RFC 8259, section 6): no leading zeros, no plus, digits on both sides of the point. Its size does not
    /// matter here.
    private mutating func number() throws(ForgeError) {
        func isDigit() -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
        _ = next(is: UInt8(ascii: "-"))
        guard isDigit() else { throw malformed("no value") }
        if !next(is: UInt8(ascii: "0")) { while isDigit() { position += 1 } }
        if next(is: UInt8(ascii: ".")) {
            guard isDigit() else { throw malformed("no digit after the point") }
            while isDigit() { position += 1 }
        }
        if next(is: UInt8(ascii: "e")) || next(is: UInt8(ascii: "E")) {
            if !next(is: UInt8(ascii: "+")) { _ = next(is: UInt8(ascii: "-")) }
            guard isDigit() else { throw malformed("no exponent") }
            while isDigit() { position += 1 }
        }
    }
}
