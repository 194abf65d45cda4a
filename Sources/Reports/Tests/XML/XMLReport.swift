import CExpat

/// A dialect of XML reports, which receives the elements one after the other.
protocol XMLHandler: AnyObject {
    /// Begins an element.
    /// - Parameter depth: The element's depth; 1 for the root element.
    /// - Throws: The reason to refuse the document.
    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal)
    func consume(_ text: String)
    func end(_ element: String, depth: Int)
}

/// A reader of XML reports, element by element with expat, with the same limits and refusals for every dialect.
///
/// A document type is refused, since it can define entities. Invalid characters that tools write (control characters, bytes that are not UTF-8) are
/// replaced. Namespace prefixes are removed from element names.
final class XMLReport {
    /// The most nested elements; real reports have at most twelve.
    static let maximumDepth = 100
    /// The most attributes of an element; real reports have about twenty.
    static let maximumAttributes = 200
    /// The longest tag, comment or processing instruction, in bytes. Text may be longer, since expat delivers it in pieces.
    static let maximumMarkupBytes = 16 << 20
    private static let pieceBytes = 1 << 20

    private let parser: XML_Parser
    private let handler: any XMLHandler
    private var depth = 0
    /// Whether the root element has ended.
    private var hasEnded = false
    private var refusal: String?
    /// The bytes passed to expat, and their number at its last callback.
    private var (given, heard) = (0, 0)

    private init(_ parser: XML_Parser, _ handler: any XMLHandler) {
        (self.parser, self.handler) = (parser, handler)
    }

    /// Passes the elements to the handler until the end or the first problem.
    /// - Returns: Why and where the reading stopped; `nil` if the report was read completely.
    static func read(_ bytes: [UInt8], into handler: any XMLHandler) -> String? {
        let text: [UInt8]
        do {
            text = try XMLText.prepared(bytes)
        } catch {
            return error.text
        }
        guard text.contains(where: { $0 > 0x20 }) else { return "the file is empty" }
        guard let parser = XML_ParserCreate("UTF-8") else { return "there is not enough memory to read it" }
        defer { XML_ParserFree(parser) }
        let report = XMLReport(parser, handler)
        return withExtendedLifetime(report) { report.read(text) }
    }

    /// Returns the root element's name and attributes if they are in the first 64 KiB, to choose a dialect; otherwise `nil`.
    static func root(of bytes: [UInt8]) -> (name: String, attributes: [String: String])? {
        final class First: XMLHandler {
            var found: (name: String, attributes: [String: String])?
            func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
                if found == nil { found = (element, attributes) }
                throw XMLText.Refusal(text: "")
            }
            func consume(_ text: String) {}
            func end(_ element: String, depth: Int) {}
        }
        let first = First()
        _ = read(Array(bytes.prefix(64 * 1024)), into: first)
        return first.found
    }

    private func read(_ text: [UInt8]) -> String? {
        listen()
        return text.withUnsafeBytes { bytes in
            while true {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[given...].prefix(Self.pieceBytes))
                let isLast = given + piece.count == bytes.count
                given += piece.count
                let start = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                let status = XML_Parse(parser, start, Int32(piece.count), isLast ? 1 : 0)
                if let refusal { return refusal }
                guard status == XML_STATUS_OK else { return problem }
                if isLast { return nil }
                if given - heard > Self.maximumMarkupBytes {
                    return "line \(XML_GetCurrentLineNumber(parser)): a tag or comment of more than "
                        + "\(Self.maximumMarkupBytes >> 20) MiB"
                }
            }
        }
    }

    private var problem: String {
        let code = XML_GetErrorCode(parser)
        let place = "line \(XML_GetCurrentLineNumber(parser)), column \(XML_GetCurrentColumnNumber(parser) + 1)"
        let reason =
            hasEnded && code != XML_ERROR_NO_MEMORY
            ? "there is data after the root element"
            : Self.reasons[code.rawValue] ?? XML_ErrorString(code).map { String(cString: $0) } ?? "an error"
        return "\(place): not well-formed XML, \(reason)"
    }

    // MARK: Callbacks of expat

    private func listen() {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { report, name, attributes in
                guard let name else { return }
                XMLReport.of(report)?.begin(name, attributes)
            },
            { report, name in
                guard let name else { return }
                XMLReport.of(report)?.end(name)
            })
        XML_SetCharacterDataHandler(parser) { report, text, count in
            guard let text else { return }
            XMLReport.of(report)?.consume(UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        XML_SetCommentHandler(parser) { report, _ in XMLReport.of(report)?.hear() }
        XML_SetProcessingInstructionHandler(parser) { report, _, _ in XMLReport.of(report)?.hear() }
        XML_SetStartDoctypeDeclHandler(parser) { report, _, _, _, _ in
            guard let report = XMLReport.of(report) else { return }
            report.refuse("line \(report.line): a document type (<!DOCTYPE) is not allowed")
        }
    }

    /// Returns the report of expat's callback; `nil` once it is refused, since expat may call again before it stops.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> XMLReport? {
        guard let pointer else { return nil }
        let report = Unmanaged<XMLReport>.fromOpaque(pointer).takeUnretainedValue()
        return report.refusal == nil ? report : nil
    }

    private func refuse(_ why: String) {
        refusal = why
        XML_StopParser(parser, 0)
    }

    private func hear() { heard = given }

    private func begin(
        _ name: UnsafePointer<CChar>, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        hear()
        depth += 1
        guard depth <= Self.maximumDepth else {
            return refuse("line \(line): elements nested deeper than \(Self.maximumDepth)")
        }
        var attributes: [String: String] = [:]
        var place = 0
        while let key = pairs?[place], let value = pairs?[place + 1] {
            guard attributes.count < Self.maximumAttributes else {
                return refuse("line \(line): an element with more than \(Self.maximumAttributes) attributes")
            }
            attributes[String(cString: key)] = String(cString: value)
            place += 2
        }
        do throws(XMLText.Refusal) {
            try handler.begin(Self.localName(name), attributes, depth: depth)
        } catch {
            refuse(error.text)
        }
    }

    private func consume(_ text: UnsafeRawBufferPointer) {
        hear()
        handler.consume(String(decoding: text, as: UTF8.self))
    }

    private func end(_ name: UnsafePointer<CChar>) {
        hear()
        handler.end(Self.localName(name), depth: depth)
        depth -= 1
        hasEnded = depth == 0
    }

    private var line: UInt { XML_GetCurrentLineNumber(parser) }

    private static func localName(_ name: UnsafePointer<CChar>) -> String {
        let name = String(cString: name)
        return name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }

    /// expat's errors (`enum XML_Error` of expat.h) that truncated or careless reports have; others are reported in expat's words.
    private static let reasons: [UInt32: String] = [
        XML_ERROR_INVALID_TOKEN.rawValue: "a character that is not allowed there",
        XML_ERROR_NO_ELEMENTS.rawValue: "it ends too early", XML_ERROR_UNCLOSED_TOKEN.rawValue: "it ends too early",
        XML_ERROR_PARTIAL_CHAR.rawValue: "it ends too early",
        XML_ERROR_UNCLOSED_CDATA_SECTION.rawValue: "a CDATA section without an end",
        XML_ERROR_TAG_MISMATCH.rawValue: "an element is closed by another's end",
        XML_ERROR_DUPLICATE_ATTRIBUTE.rawValue: "an attribute twice",
        XML_ERROR_JUNK_AFTER_DOC_ELEMENT.rawValue: "there is data after the root element",
        XML_ERROR_UNDEFINED_ENTITY.rawValue: "an entity that is not declared",
        XML_ERROR_NO_MEMORY.rawValue: "there is not enough memory to read it",
    ]
}

/// Counts that a report states. They are not used as results, but a report that counts failures must contain one.
enum StatedCount {
    /// Returns whether an attribute is a positive number of any size.
    static func isPositive(_ text: String?) -> Bool {
        guard let text, let first = text.utf8.first(where: { $0 > 0x30 }) else { return false }
        return (0x31...0x39).contains(first) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
