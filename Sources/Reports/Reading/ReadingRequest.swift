/// The daemon's messages to `martlet-reader`, record by record: a byte for the kind, four for the length, and the bytes.
///
/// A conversation is `.root`, then for each step `.step`, its reports (`.report` and the file's bytes as `.bytes`), its console as `.console`, and
/// `.stepEnd`; then `.end`.
package enum ReadingRequest {
    enum Kind: UInt8 { case root = 1, step, report, bytes, console, stepEnd, end }

    /// The version of the protocol in both programs: a program of another version is refused.
    static let version = 2
    /// The size of a record's kind and length.
    package static let headBytes = 5
    /// The most bytes of a file or a console in one record.
    package static let pieceBytes = 256 * 1024
    /// The most bytes of a record.
    static let maximumBytes = 1 << 20

    private static func record(_ kind: Kind, _ bytes: [UInt8] = []) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { [kind.rawValue] + $0 } + bytes
    }

    private static func record(_ kind: Kind, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        write(&writer)
        return record(kind, writer.bytes)
    }

    /// Begins the conversation.
    package static func root(_ root: SourceRoot) -> [UInt8] {
        record(.root) { writer in
            writer.add(version)
            writer.add(root.paths)
        }
    }

    /// Begins a step.
    package static func step(_ number: Int, _ subject: StepSubject) -> [UInt8] {
        record(.step) { writer in
            writer.add(number)
            writer.add(Int(subject.rawValue))
        }
    }

    /// Begins a report file of the step; its bytes follow, unless it is larger than `ReportReader.maximumBytes`.
    package static func report(_ fileName: String, size: Int) -> [UInt8] {
        record(.report) { writer in
            writer.add(fileName)
            writer.add(size)
        }
    }

    /// Returns the record with the next bytes of the report file.
    package static func bytes(_ piece: [UInt8]) -> [UInt8] { record(.bytes, piece) }

    /// Returns the record with the next bytes of the step's console.
    package static func console(_ piece: [UInt8]) -> [UInt8] { record(.console, piece) }

    /// Ends the step.
    package static let stepEnd = record(.stepEnd)
    /// Ends the conversation.
    package static let end = record(.end)

    /// Parses a record's head.
    /// - Throws: For an unknown kind, and for a record that is too long.
    package static func head(_ bytes: [UInt8]) throws(WireError) -> (kind: UInt8, count: Int) {
        guard bytes.count == headBytes, Kind(rawValue: bytes[0]) != nil else { throw WireError("an unknown record") }
        let count = bytes[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= maximumBytes else { throw WireError("a record of \(count) bytes") }
        return (bytes[0], count)
    }
}

/// The parts of a step's console that are read.
package struct StepSubject: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages from the script of a usual command to the service.
    package static let words = StepSubject(rawValue: 1)
    /// All lines, which are stored.
    package static let lines = StepSubject(rawValue: 2)
    /// The names of the tests, which help to read the consoles of later steps.
    package static let testList = StepSubject(rawValue: 32)
    /// Linters' findings.
    package static let analysis = StepSubject(rawValue: 4)
    /// Compilers' messages, and the names of compiled files.
    package static let build = StepSubject(rawValue: 8)
    /// Tests, crashes and the reports of sanitizers.
    package static let tests = StepSubject(rawValue: 16)
}
