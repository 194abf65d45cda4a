/// Writes the messages between `martlet-reader` and the daemon.
///
/// Numbers are written in seven bits per byte, the lowest first. A text is written once and then referred to by its number, since most findings and
/// tests share rules, paths and suites.
struct WireWriter {
    /// The most texts with a number.
    static let maximumTexts = 1 << 16

    /// How much was written.
    struct Size {
        var bytes = 0
        /// Of all lists together.
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

    /// Takes back what was written since the size was this one. A new part begins.
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
