import Foundation
import FoundationXML

/// What a dialect makes of the elements of an XML report, one after the other.
protocol XMLHandler: AnyObject {
    /// - Parameter depth: 1 for the root element.
    /// - Throws: Why the document is refused.
    func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal)
    func take(_ text: String)
    func end(_ element: String, depth: Int)
}

/// Reads an XML report element by element, with the same limits and the same refusals whatever its dialect.
///
/// A document type is refused, since entities come with it. What XML forbids but tools write (control characters, bytes that
/// are no UTF-8) is replaced. Prefixes of namespaces are dropped from element names.
final class XMLReport: NSObject, XMLParserDelegate {
    /// The most nested elements; real reports have at most twelve.
    static let maximumDepth = 100

    private let handler: any XMLHandler
    private var depth = 0
    private var hasRoot = false
    private var refusal: String?

    private init(_ handler: any XMLHandler) { self.handler = handler }

    /// Gives the elements to the handler until the end or the first problem.
    /// - Returns: Why and where it could not be read to its end; nothing when it could.
    static func read(_ bytes: [UInt8], into handler: any XMLHandler) -> String? {
        let text: [UInt8]
        do {
            text = try XMLText.prepared(bytes)
        } catch {
            return error.text
        }
        guard text.contains(where: { $0 > 0x20 }) else { return "the file is empty" }
        let report = XMLReport(handler)
        // In pieces: libxml2 2.9 refuses more than 10,000,000 bytes at once.
        let parser = XMLParser(stream: InputStream(data: Data(text)))
        parser.shouldProcessNamespaces = false
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        parser.delegate = report
        let isComplete = parser.parse()
        if let refusal = report.refusal { return refusal }
        let place = "line \(parser.lineNumber), column \(parser.columnNumber): not well-formed XML"
        guard isComplete else {
            let code = (parser.parserError as NSError?)?.code ?? 0
            return place + (reasons[code].map { ", " + $0 } ?? " (libxml2's error \(code))")
        }
        // Foundation's parser of Swift 6.3.1 calls a document that breaks off a good one.
        return report.hasRoot && report.depth == 0 ? nil : place + ", it ends too early"
    }

    /// The name of the root element and its attributes, as far as the first 64 KiB tell them, for choosing a dialect.
    static func root(of bytes: [UInt8]) -> (name: String, attributes: [String: String])? {
        final class First: XMLHandler {
            var found: (name: String, attributes: [String: String])?
            func begin(_ element: String, _ attributes: [String: String], depth: Int) throws(XMLText.Refusal) {
                if found == nil { found = (element, attributes) }
                throw XMLText.Refusal(text: "")
            }
            func take(_ text: String) {}
            func end(_ element: String, depth: Int) {}
        }
        let first = First()
        _ = read(Array(bytes.prefix(64 * 1024)), into: first)
        return first.found
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        depth += 1
        hasRoot = true
        do throws(XMLText.Refusal) {
            guard depth <= Self.maximumDepth else {
                throw XMLText.Refusal(text: "elements nested deeper than \(Self.maximumDepth)")
            }
            try handler.begin(Self.localName(elementName), attributes, depth: depth)
        } catch {
            if refusal == nil { refusal = error.text }
            parser.abortParsing()
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        handler.end(Self.localName(elementName), depth: depth)
        depth -= 1
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { handler.take(string) }

    func parser(_ parser: XMLParser, foundCDATA block: Data) { handler.take(String(decoding: block, as: UTF8.self)) }

    private static func localName(_ name: String) -> String {
        name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }

    /// libxml2's error numbers (`libxml/xmlerror.h`) that a cut or careless report has.
    private static let reasons: [Int: String] = [
        4: "nothing there", 5: "it ends too early", 26: "an entity that is not declared", 38: "a < in an attribute",
        39: "an attribute without quotes", 41: "an attribute without a value", 42: "an attribute twice",
        63: "a CDATA section without an end", 68: "a name is missing", 73: "a > is missing",
        76: "an element is closed by another's end", 77: "it ends within an element",
    ]
}
