import Glibc

/// Encodings of text files in the working tree (`working-tree-encoding`), converted by the C library's iconv(3) as in git (utf8.c and convert.c of
/// git 2.39).
enum TextEncoding {
    /// The prefixes of names that are passed to iconv(3). A commit's author chooses the name, and the converters of rarely used encodings have had
    /// vulnerabilities that crash or take over a process (CVE-2024-2961, CVE-2020-27618). git would use them.
    private static let families = [
        "UTF", "UCS-2", "UCS-4", "UCS2", "UCS4", "ASCII", "US-ASCII", "ANSI_X3.4", "ISO-8859-", "ISO8859-", "ISO_8859-",
        "LATIN",
        "CP125", "WINDOWS-", "CP437", "CP73", "CP77", "CP8", "IBM437", "IBM8", "CP93", "CP94", "CP950", "MS93", "KOI8-",
        "SJIS",
        "SHIFT", "MS_KANJI", "EUC-", "EUCJP", "EUCKR", "EUCCN", "EUCTW", "GB", "BIG5", "BIG-5", "UHC", "JOHAB",
        "TIS-620", "MAC",
        "ISO-2022-JP", "ISO-2022-KR", "VISCII", "HP-ROMAN8",
    ]

    /// Whether git treats the name as UTF-8, which it does not convert.
    static func isUTF8(_ name: String) -> Bool { utf(name) == "8" }

    /// The text after `UTF` and a hyphen, in upper case; `nil` for another family.
    private static func utf(_ name: String) -> String? {
        let upper = name.uppercased()
        guard upper.hasPrefix("UTF") else { return nil }
        let rest = upper.dropFirst(3)
        return String(rest.hasPrefix("-") ? rest.dropFirst() : rest)
    }

    /// Converts text in UTF-8 into a file's bytes.
    /// - Returns: `nil` if the text cannot be encoded, or the encoding is unknown.
    static func encoded(_ text: [UInt8], as name: String) -> [UInt8]? {
        switch utf(name) {
        case "16LE-BOM": converted(text, from: "UTF-8", to: "UTF-16LE").map { [0xff, 0xfe] + $0 }
        case "16BE-BOM": converted(text, from: "UTF-8", to: "UTF-16BE").map { [0xfe, 0xff] + $0 }
        default: converted(text, from: "UTF-8", to: name)
        }
    }

    /// Converts a file into UTF-8.
    /// - Throws: The fault if the file cannot be converted.
    static func decoded(_ file: [UInt8], from name: String) throws(TextConversion.Fault) -> [UInt8] {
        if let isRequired = markFault(file, name) {
            throw .byteOrderMark(encoding: name, isRequired: isRequired)
        }
        // With UTF-16 as the source, iconv evaluates the byte order mark.
        let source = utf(name) == "16LE-BOM" ? "UTF-16" : name
        guard let text = converted(file, from: source, to: "UTF-8") else { throw .notEncoded(encoding: name) }
        // git checks only this encoding by default (`core.checkRoundtripEncoding`).
        if name.uppercased() == "SHIFT-JIS", encoded(text, as: name) != file {
            throw .notReversible(encoding: name)
        }
        return text
    }

    /// Whether a byte order mark is missing (`true`) or forbidden (`false`); `nil` if it is right.
    private static func markFault(_ file: [UInt8], _ name: String) -> Bool? {
        let isMarked16 = file.starts(with: [0xff, 0xfe]) || file.starts(with: [0xfe, 0xff])
        let isMarked32 = file.starts(with: [0xff, 0xfe, 0, 0]) || file.starts(with: [0, 0, 0xfe, 0xff])
        switch utf(name) {
        case "16LE", "16BE": return isMarked16 ? false : nil
        case "32LE", "32BE": return isMarked32 ? false : nil
        case "16": return isMarked16 ? nil : true
        case "32": return isMarked32 ? nil : true
        default: return nil
        }
    }

    private static func isKnown(_ name: String) -> Bool {
        let upper = name.uppercased()
        guard upper.utf8.count <= 40,
            upper.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || "-_.:()".utf8.contains($0)
            })
        else { return false }
        return families.contains(where: upper.hasPrefix)
    }

    private static func converted(_ bytes: [UInt8], from source: String, to target: String) -> [UInt8]? {
        guard isKnown(source), isKnown(target) else { return nil }
        var converter = iconv_open(target, source)
        // This is the only alias that git adds (`fallback_encoding`).
        if converter == iconv_t(bitPattern: -1), [source, target].contains(where: { $0.lowercased() == "latin-1" }) {
            func plain(_ name: String) -> String { name.lowercased() == "latin-1" ? "ISO-8859-1" : name }
            converter = iconv_open(plain(target), plain(source))
        }
        guard let converter, converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        var (result, input): ([UInt8], [UInt8]) = ([], bytes)
        result.reserveCapacity(2 * bytes.count)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let isWhole = input.withUnsafeMutableBytes { input in
            var next = input.bindMemory(to: CChar.self).baseAddress
            var left = input.count
            while true {
                let (status, count) = buffer.withUnsafeMutableBytes { output in
                    var place = output.bindMemory(to: CChar.self).baseAddress
                    var room = output.count
                    let status = iconv(converter, &next, &left, &place, &room) == -1 ? errno : 0
                    return (status, output.count - room)
                }
                result += buffer[..<count]
                if status == 0 { return true }
                // The buffer is full, so the conversion continues. Any other error, an invalid or incomplete sequence, means that the text is not in
                // this encoding.
                guard status == E2BIG, count > 0 else { return false }
            }
        }
        return isWhole ? result : nil
    }
}
