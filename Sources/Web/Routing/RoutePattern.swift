import Basics
import Encodings

/// A path with parameters, such as `/bots/{bot}/{number}`.
///
/// The path is compared segment by segment as it was sent. `//`, `/./`, `;x` and case are not normalized, so a protected route has exactly one
/// spelling.
package struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
    private enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
        /// `{name...}`: this segment and all that follow it.
        case rest(String)
    }

    package let description: String
    private let segments: [Segment]

    /// The longest path that is matched, in bytes.
    static let maximumPathBytes = 4096

    package init(_ text: String) {
        description = text
        segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(String(part)) }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
        }
    }

    /// The first segment; `nil` if it is a parameter.
    var first: String? {
        if case .literal(let text) = segments.first { text } else { nil }
    }

    /// Splits a path at its slashes, as it was sent. The result has at least one segment, which can be empty.
    /// - Returns: `nil` if the text does not begin with a slash, or is too long.
    static func segments(of path: String) -> [Substring]? {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= maximumPathBytes else { return nil }
        let parts = bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.map { Substring($0) }
    }

    /// Returns the parameters, percent-decoded once; `nil` if the path does not match.
    /// - Parameter parts: The path's `segments(of:)`.
    func match(_ parts: [Substring]) -> [String: String]? {
        var values: [String: String] = [:]
        var index = parts.startIndex
        for segment in segments {
            guard index < parts.endIndex else { return nil }
            switch segment {
            case .literal(let text):
                guard parts[index].utf8.elementsEqual(text.utf8) else { return nil }
            case .parameter(let name):
                guard let value = Self.decode(parts[index]) else { return nil }
                values[name] = value
            case .rest(let name):
                let decoded = parts[index...].map(Self.decode)
                guard decoded.allSatisfy({ $0 != nil }) else { return nil }
                values[name] = decoded.compactMap(\.self).joined(separator: "/")
                return values
            }
            index = parts.index(after: index)
        }
        return index == parts.endIndex ? values : nil
    }

    /// Decodes one segment. It must be valid UTF-8 of 1 to 255 bytes without a separator or control character, and neither `.` nor `..`.
    /// - Returns: `nil` if it is not.
    static func decode(_ segment: Substring) -> String? {
        var bytes: [UInt8] = []
        var iterator = segment.utf8.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(Hexadecimal.digit),
                let low = iterator.next().flatMap(Hexadecimal.digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        guard !bytes.isEmpty, bytes.count <= 255, let text = String(validating: bytes, as: UTF8.self),
            text != ".", text != "..",
            text.unicodeScalars.allSatisfy({ $0 != "/" && $0 != "\\" && $0.properties.generalCategory != .control })
        else { return nil }
        return text
    }
}
