import Encodings

/// A reader of a report with one JSON value per line.
enum JSONLines {
    /// Calls `body` for each object. Blank lines, and lines that begin with another character than `{`, are skipped: other programs may print between
    /// them.
    /// - Returns: The first line that could not be read, and why; `nil` if all could be read.
    static func forEach(in bytes: [UInt8], _ body: (JSON) -> Void) -> String? {
        var problem: String?
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard line.first(where: { $0 != 0x20 }) == UInt8(ascii: "{") else { continue }
            guard line.count <= EventStreamReader.maximumLineBytes else {
                problem = problem ?? "line \(number): longer than \(EventStreamReader.maximumLineBytes) bytes"
                continue
            }
            do {
                body(try JSON.parse(line))
            } catch {
                problem = problem ?? "line \(number): \(error.text)"
            }
        }
        return problem
    }
}

extension JSON {
    /// The value as an integer; `nil` if it is no whole number below 9e15.
    var int: Int? {
        guard let double, double.rounded() == double, abs(double) < 9e15 else { return nil }
        return Int(double)
    }

    /// The value as a finite number.
    var double: Double? {
        guard let double = number.flatMap(Double.init), double.isFinite else { return nil }
        return double
    }
}
