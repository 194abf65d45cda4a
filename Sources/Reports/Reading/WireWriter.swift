/// A writer of the messages between `martlet-reader` and the daemon.
///
/// Numbers are written with seven bits per byte, the lowest first. A text is written once and then referenced by its number, since most findings and
/// tests share rules, paths and suites.
struct WireWriter {
    /// The most texts that get a number.
    static let maximumTexts = 1 << 16

    /// The amount of written data.
    struct Size {
        var bytes = 0
        /// The number of elements of all lists together.
        var elements = 0

        static func + (left: Size, right: Size) -> Size {
            Size(bytes: left.bytes + right.bytes, elements: left.elements + right.elements)
        }

        static func - (left: Size, right: Size) -> Size {
            Size(bytes: left.bytes - right.bytes, elements: left.elements - right.elements)
        }
    }

    private(set) var bytes: [UInt8] = []
    private var elements = 0
    private var texts: [String: UInt64] = [:]

    /// Begins a part that can be read without the earlier ones: texts are written again.
    mutating func beginPart() { texts.removeAll(keepingCapacity: true) }

    var size: Size { Size(bytes: bytes.count, elements: elements) }

    /// Removes everything written since the size was `size`, and begins a new part.
    mutating func truncate(to size: Size) {
        bytes.removeLast(bytes.count - size.bytes)
        elements = size.elements
        beginPart()
    }

    mutating func add(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func add(_ number: Int) { add(UInt64(max(0, number))) }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ text: String) {
        if let number = texts[text] { return add(number) }
        add(0)
        add(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
        if texts.count < Self.maximumTexts { texts[text] = UInt64(texts.count + 1) }
    }

    mutating func add<Value>(optional value: Value?, _ write: (inout WireWriter, Value) -> Void) {
        add(value != nil)
        if let value { write(&self, value) }
    }

    mutating func add<Element>(list: [Element], _ write: (inout WireWriter, Element) -> Void) {
        add(list.count)
        elements += list.count
        for element in list { write(&self, element) }
    }

    mutating func add(_ texts: [String]) { add(list: texts) { $0.add($1) } }
    mutating func add(optional text: String?) { add(optional: text) { $0.add($1) } }
    mutating func add(optional number: Int?) { add(optional: number) { $0.add($1) } }
}
