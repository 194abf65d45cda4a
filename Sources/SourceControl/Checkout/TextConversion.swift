/// The conversion between a file in the working tree and its blob: line ends, `$Id$` and encoding, as in git (gitattributes(5), convert.c of git
/// 2.39). Filters that would run a program (`filter=`) are ignored.
struct TextConversion: Hashable {
    /// The treatment of line ends.
    enum Lines: Hashable {
        case untouched
        /// Always text.
        case text
        /// Text if the content looks like text.
        case automatic
    }

    var lines = Lines.untouched
    /// Whether lines end with CR LF in the working tree.
    var isCRLF = false
    /// Whether `$Id$` is expanded.
    var expandsID = false
    /// The encoding in the working tree; `nil` for UTF-8.
    var encoding: String?
    /// The program in the attributes (`filter=`); `nil` if there is none.
    var filter: String?

    /// Whether the blob and the file have the same bytes.
    var isIdentity: Bool { lines == .untouched && !expandsID && encoding == nil }

    /// `core.autocrlf` (git-config(1)).
    enum AutoCRLF: Hashable { case no, yes, input }

    /// - Throws: `Fault.invalidEncoding`, for which git fails, too.
    init(_ values: [String: AttributeRules.Value], autoCRLF: AutoCRLF = .no) throws(Fault) {
        let text = values["text"].flatMap(Self.action) ?? values["crlf"].flatMap(Self.action)
        switch text {
        case .untouched?: break
        case let action:
            let eol = values["eol"]
            let isLF = eol == .text(Array("lf".utf8))
            let isCRLF = eol == .text(Array("crlf".utf8))
            // `eol` alone makes it text.
            lines = action?.lines ?? (isLF || isCRLF ? .text : autoCRLF == .no ? .untouched : .automatic)
            self.isCRLF = isCRLF || (!isLF && autoCRLF == .yes && action != .input)
        }
        expandsID = values["ident"] == .yes
        if case .text(let name)? = values["filter"] { filter = String(decoding: name, as: UTF8.self) }
        switch values["working-tree-encoding"] {
        case .yes?, .no?: throw .invalidEncoding
        case .text(let name)? where !name.isEmpty:
            let name = String(decoding: name, as: UTF8.self)
            if !TextEncoding.isUTF8(name) { encoding = name }
        default: break
        }
    }

    private enum Action {
        case untouched, text, input, automatic

        var lines: Lines { self == .automatic ? .automatic : self == .untouched ? .untouched : .text }
    }

    private static func action(_ value: AttributeRules.Value) -> Action? {
        switch value {
        case .yes: .text
        case .no: .untouched
        case .unspecified: nil
        case .text(let text):
            text.elementsEqual("input".utf8) ? .input : text.elementsEqual("auto".utf8) ? .automatic : nil
        }
    }

    /// A conversion that git refuses.
    enum Fault: Error, Hashable {
        /// `working-tree-encoding` without a value.
        case invalidEncoding
        /// The file has, or lacks, a byte order mark against its encoding's rule.
        case byteOrderMark(encoding: String, isRequired: Bool)
        /// The bytes are not valid in the encoding, or the encoding is unknown.
        case notEncoded(encoding: String)
        /// Converting back from UTF-8 would give other bytes.
        case notReversible(encoding: String)
    }

    // MARK: To the working tree

    /// Converts a blob into a file's bytes.
    /// - Parameter id: Returns the blob's id in hexadecimal digits. Called only if there is an `$Id$`.
    /// - Returns: The file's bytes. Text that cannot be encoded stays UTF-8, as in git.
    func toWorkingTree(_ blob: [UInt8], id: () -> String) -> [UInt8] {
        var bytes = blob
        if expandsID { bytes = Identifier.expanded(bytes, id: id) }
        if isCRLF, lines != .untouched { bytes = withCRLF(bytes) }
        if let encoding, !bytes.isEmpty { bytes = TextEncoding.encoded(bytes, as: encoding) ?? bytes }
        return bytes
    }

    private func withCRLF(_ bytes: [UInt8]) -> [UInt8] {
        let statistics = TextStatistics(bytes)
        guard statistics.loneLF > 0 else { return bytes }
        if lines == .automatic, statistics.loneCR > 0 || statistics.crlf > 0 || statistics.isBinary { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + statistics.loneLF)
        var last: UInt8 = 0
        for byte in bytes {
            if byte == 0x0a, last != 0x0d { result.append(0x0d) }
            result.append(byte)
            last = byte
        }
        return result
    }

    // MARK: From the working tree

    /// Converts a file into a blob's bytes.
    /// - Parameter known: Returns the file's blob in git's index; `nil` if there is none. If it has CR LF, these are kept when line ends are
    ///   automatic.
    func toBlob(_ file: [UInt8], known: () -> [UInt8]?) throws(Fault) -> [UInt8] {
        var bytes = file
        if let encoding, !bytes.isEmpty { bytes = try TextEncoding.decoded(bytes, from: encoding) }
        if lines != .untouched { bytes = withoutCRLF(bytes, known) }
        if expandsID { bytes = Identifier.collapsed(bytes) }
        return bytes
    }

    private func withoutCRLF(_ bytes: [UInt8], _ known: () -> [UInt8]?) -> [UInt8] {
        guard bytes.contains(0x0d) else { return bytes }
        let statistics = TextStatistics(bytes)
        guard statistics.crlf > 0 else { return bytes }
        if lines == .automatic {
            if statistics.isBinary { return bytes }
            if let known = known() {
                let statistics = TextStatistics(known)
                if statistics.crlf > 0, !statistics.isBinary { return bytes }
            }
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (place, byte) in bytes.enumerated() {
            if byte == 0x0d, place + 1 < bytes.count, bytes[place + 1] == 0x0a { continue }
            result.append(byte)
        }
        return result
    }
}

/// Counts of a file's bytes, as git makes them to distinguish text from binary files (convert.c, `gather_stats`).
struct TextStatistics {
    private(set) var (loneCR, loneLF, crlf, nul, printable, other) = (0, 0, 0, 0, 0, 0)

    init(_ bytes: [UInt8]) {
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case 0x0d:
                if place < bytes.count, bytes[place] == 0x0a {
                    crlf += 1
                    place += 1
                } else {
                    loneCR += 1
                }
            case 0x0a: loneLF += 1
            case 0x08, 0x09, 0x0c, 0x1b: printable += 1
            case 0:
                nul += 1
                other += 1
            case 0x01..<0x20, 0x7f: other += 1
            default: printable += 1
            }
        }
        // The end-of-file character of DOS.
        if bytes.last == 0x1a { other -= 1 }
    }

    var isBinary: Bool { loneCR > 0 || nul > 0 || printable >> 7 < other }
}

/// The keyword `$Id$` (gitattributes(5), "ident").
private enum Identifier {
    private static let dollar = UInt8(ascii: "$")

    static func expanded(_ bytes: [UInt8], id: () -> String) -> [UInt8] {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes[...])
        var text: [UInt8]?
        while let start = rest.firstIndex(of: dollar) {
            result += rest[...start]
            rest = rest[(start + 1)...]
            guard rest.count >= 3, rest.starts(with: "Id".utf8) else { continue }
            let third = rest.startIndex + 2
            if rest[third] == dollar {
                rest = rest[(third + 1)...]
            } else if rest[third] == UInt8(ascii: ":") {
                guard let end = rest[(third + 1)...].firstIndex(of: dollar) else { break }
                let inside = rest[(third + 1)..<end]
                if inside.contains(0x0a) { continue }
                // This is another system's keyword, which has blanks in other places than git's.
                if let blank = inside.dropFirst().firstIndex(of: 0x20), blank < end - 1 { continue }
                rest = rest[(end + 1)...]
            } else {
                continue
            }
            let known = text ?? Array("Id: \(id()) $".utf8)
            text = known
            result += known
        }
        return result + rest
    }

    static func collapsed(_ bytes: [UInt8]) -> [UInt8] {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes[...])
        while let start = rest.firstIndex(of: dollar) {
            result += rest[...start]
            rest = rest[(start + 1)...]
            guard rest.count > 3, rest.starts(with: "Id:".utf8) else { continue }
            let inside = rest.dropFirst(3)
            guard let end = inside.firstIndex(of: dollar) else { break }
            if inside[..<end].contains(0x0a) { continue }
            result += Array("Id$".utf8)
            rest = rest[(end + 1)...]
        }
        return result + rest
    }
}
