import Model

/// An error that states why bytes of `martlet-reader` or of the daemon are invalid.
package struct WireError: Error, Sendable, CustomStringConvertible {
    package var description: String

    init(_ description: String) { self.description = description }
}

/// A reader of the untrusted output of a `WireWriter`: numbers, lengths and counts are limited, and texts are repaired and cut.
struct WireReader {
    /// The most elements of a list.
    static let maximumElements = 1_000_000
    /// The most bytes of a text; longer ones are cut. Messages have a lower limit.
    static let maximumTextBytes = 64 * 1024

    private let bytes: [UInt8]
    private var place: Int
    private var texts: [String] = []
    /// The number of further elements that are read, for all lists together.
    private(set) var elementsLeft: Int

    /// - Parameter elements: The most elements of all lists together.
    init(_ bytes: [UInt8], elements: Int = maximumElements) {
        self.bytes = bytes
        place = 0
        elementsLeft = elements
    }

    var isAtEnd: Bool { place == bytes.count }

    /// See `WireWriter.beginPart`.
    mutating func beginPart() { texts.removeAll(keepingCapacity: true) }

    mutating func number() throws(WireError) -> UInt64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while place < bytes.count, shift < 64 {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        throw WireError("a number without an end")
    }

    mutating func int() throws(WireError) -> Int {
        guard let int = Int(exactly: try number()) else { throw WireError("a number out of range") }
        return int
    }

    mutating func flag() throws(WireError) -> Bool {
        guard place < bytes.count, bytes[place] <= 1 else { throw WireError("no flag") }
        place += 1
        return bytes[place - 1] == 1
    }

    mutating func text() throws(WireError) -> String {
        let known = try int()
        if known > 0 {
            guard known <= texts.count else { throw WireError("a reference to a text that was not defined before") }
            return texts[known - 1]
        }
        let count = try int()
        guard count <= bytes.count - place else { throw WireError("a text that is longer than what is there") }
        let text = String(decoding: bytes[place..<place + count], as: UTF8.self)
        place += count
        let kept = TextLimit.cut(text.withoutNUL, toBytes: Self.maximumTextBytes)
        if texts.count < WireWriter.maximumTexts { texts.append(kept) }
        return kept
    }

    mutating func optional<Value>(
        _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        try flag() ? try read(&self) : nil
    }

    mutating func list<Element>(
        _ read: (inout WireReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        let count = try int()
        // Each element takes at least a byte.
        guard count <= min(Self.maximumElements, bytes.count - place) else { throw WireError("a list of \(count)") }
        guard count <= elementsLeft else { throw WireError("the lists have too many elements together") }
        elementsLeft -= count
        var list: [Element] = []
        list.reserveCapacity(count)
        for _ in 0..<count { list.append(try read(&self)) }
        return list
    }

    mutating func textList() throws(WireError) -> [String] {
        try list { (reader) throws(WireError) in try reader.text() }
    }

    mutating func optionalText() throws(WireError) -> String? {
        try optional { (reader) throws(WireError) in try reader.text() }
    }

    /// Reads a line or a column. Returns `nil` also for an invalid one.
    mutating func optionalPlace() throws(WireError) -> Int? {
        let number = try optional { (reader) throws(WireError) in try reader.int() }
        return ReportContent.isPlace(number) ? number : nil
    }

    /// Reads one of the values, by its index.
    mutating func one<Value>(of all: [Value]) throws(WireError) -> Value {
        let number = try int()
        guard number < all.count else { throw WireError("an unknown keyword") }
        return all[number]
    }
}
