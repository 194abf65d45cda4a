/// The part of `martlet-reader`'s answer that the daemon has received: records as in a `ReadingRequest`.
///
/// The bytes that the reader has read may have taken it over, so the answer is not trusted. Every length, count, number and text is checked or cut.
package struct ReadingAnswer {
    private enum Kind: UInt8 { case begin = 1, step, end, unfiltered }

    /// The most bytes of an answer: those that `ReadingSession` writes, and its framing.
    static let maximumBytes = ReadingSession.maximumBytes + (16 << 20)
    /// The most elements of all lists of an answer: those of `ReadingSession`, and the problems that replace excess elements.
    static let maximumElements = ReadingSession.maximumElements + 100_000

    /// A report file, identified by its index among the step's, or the console, whose index follows the last report's.
    package struct Item: Hashable, Sendable {
        package var step: Int
        package var item: Int

        package init(step: Int, item: Int) {
            self.step = step
            self.item = item
        }
    }

    /// The item that the reader last began to read.
    package private(set) var begun: Item?
    /// The steps that were read completely, by number.
    package private(set) var steps: [Int: StepContent] = [:]
    /// Whether the kernel filters the reader's system calls. A reader without a filter reports this before it reads anything.
    package private(set) var isFiltered = true
    /// Whether the reader has reported its end.
    package private(set) var isWhole = false

    private var pending: [UInt8] = []
    private var taken = 0
    private var elementsLeft = maximumElements
    /// The number of reports of each step that has not been answered yet.
    private var asked: [Int: Int]

    /// - Parameter asked: The number of reports of each step that the reader was given, keyed by the step's number. It may answer once for each of
    ///   these steps, and for no other one.
    package init(asked: [Int: Int]) { self.asked = asked }

    /// Reads the next bytes, split anywhere.
    /// - Throws: For bytes that no reader sends.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        taken += bytes.count
        guard taken <= Self.maximumBytes else { throw WireError("more than \(Self.maximumBytes) bytes") }
        pending += bytes
        var place = 0
        while pending.count - place >= ReadingRequest.headBytes {
            let count = pending[(place + 1)..<(place + 5)].reversed().reduce(0) { $0 << 8 | Int($1) }
            let start = place + ReadingRequest.headBytes
            guard count <= Self.maximumBytes else { throw WireError("a record of \(count) bytes") }
            guard pending.count - start >= count else { break }
            guard let kind = Kind(rawValue: pending[place]), !isWhole else { throw WireError("an unknown record") }
            let record = Array(pending[start..<start + count])
            place = start + count
            try consume(kind, record)
        }
        if place > 0 { pending.removeFirst(place) }
    }

    private mutating func consume(_ kind: Kind, _ record: [UInt8]) throws(WireError) {
        var reader = WireReader(record, elements: elementsLeft)
        switch kind {
        case .begin: begun = Item(step: try reader.int(), item: try reader.int())
        case .end: isWhole = true
        case .unfiltered: isFiltered = false
        case .step:
            let number = try reader.int()
            guard let files = asked.removeValue(forKey: number) else {
                throw WireError("step \(number), which was not asked for")
            }
            var content = StepContent()
            let count = try reader.int()
            guard count <= files else { throw WireError("\(count) reports of a step that has \(files)") }
            for _ in 0..<count {
                reader.beginPart()
                content.reports.append(try reader.content())
            }
            reader.beginPart()
            content.console = try reader.console()
            guard reader.isAtEnd else { throw WireError("there is data after the last step") }
            elementsLeft = reader.elementsLeft
            steps[number] = content
        }
    }

    // MARK: Records of the reader

    private static func record(_ kind: Kind, _ parts: [UInt8]...) -> [UInt8] {
        let count = parts.reduce(0) { $0 + $1.count }
        var record = withUnsafeBytes(of: UInt32(count).littleEndian) { [kind.rawValue] + $0 }
        record.reserveCapacity(record.count + count)
        for part in parts { record += part }
        return record
    }

    static func begin(step: Int, item: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.add(step)
        writer.add(item)
        return record(.begin, writer.bytes)
    }

    static func step(_ number: Int, reports: Int, _ content: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.add(number)
        writer.add(reports)
        return record(.step, writer.bytes, content)
    }

    static let end = record(.end)
    static let unfiltered = record(.unfiltered)
}
