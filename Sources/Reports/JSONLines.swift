/// Reads a report of JSON values, one a line.
enum JSONLines {
    /// Calls `body` for each object. Blank lines and lines that begin with anything but `{` are passed over: other programs
    /// print among them.
    /// - Returns: Which line could not be read; `nil` if all could.
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

    /// The first object of the first lines.
    static func first(in bytes: ArraySlice<UInt8>) -> JSON? {
        for line in bytes.prefix(1 << 20).split(separator: 0x0A, maxSplits: 50) where line.first == UInt8(ascii: "{") {
            // `try?`: a line that is no JSON is decided by what follows.
            if let value = try? JSON.parse(line), value.isObject { return value }
        }
        return nil
    }
}
