import Basics

/// A path with parameters: `/bots/{bot}/{number}`.
///
/// The path as it was sent is compared segment by segment. Nothing is normalised, neither `//`, `/./`, `;x` nor case,
/// so that a protected route has exactly one spelling.
package struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
    private enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
        /// `{name...}`: this and all segments after it.
        case rest(String)
    }

    package let description: String
    private let segments: [Segment]

    /// The longest path that is looked at, in bytes.
    static let maximumPathBytes = 4096

    package init(_ text: String) {
        description = text
        segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(String(part)) }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
        }
    }

    /// The first segment where it is literal.
    var first: String? {
        if case .literal(let text) = segments.first { text } else { nil }
    }

    /// What lies between a path's slashes, as it was sent: at least one, which can be empty. Nothing for what is no path, or too long.
    static func segments(of path: String) -> [Substring]? {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= maximumPathBytes else { return nil }
        let parts = bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.map { Substring($0) }
    }

    /// The parameters, percent-decoded once, or nothing when the path is another.
    package func match(_ path: String) -> [String: String]? { Self.segments(of: path).flatMap { match($0) } }

    /// - Parameter parts: A path's `segments(of:)`.
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

    /// One segment, decoded: not empty, valid UTF-8, no separator, no control character, not `.` or `..`, ≤ 255 bytes.
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
