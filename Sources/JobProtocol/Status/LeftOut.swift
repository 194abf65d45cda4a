/// A file of the job that the supervisor did not copy. Each is a line of the file `left-out`, which is absent if every file was copied.
package struct LeftOut: Sendable, Equatable {
    /// The size limit of `left-out` in bytes.
    package static let sizeLimit = 4 << 20
    /// The largest number of files that are listed for one place. A further line states that there are more.
    package static let countLimit = 100
    /// The size limit of a text in bytes. The middle of a longer text is left out.
    package static let textLimit = 500
    /// The text that stands for all further files.
    package static let more = "more files were not copied; the log names some"

    /// The step whose report it is; `nil` for an archived file.
    package let step: Int?
    /// The file that was left out and the reason, with secrets masked.
    package let text: String

    package init(step: Int?, text: String) {
        self.step = step
        self.text = text
    }

    /// Decodes the file `left-out`.
    /// - Throws: `.malformed` or `.overLimit`.
    package static func list(_ bytes: [UInt8]) throws(JobProtocolError) -> [LeftOut] {
        var list: [LeftOut] = []
        for line in bytes.split(separator: 0x0A) {
            let value = try JSON(line, limit: sizeLimit)
            guard let text = value["text"]?.text else {
                throw JobProtocolError(.malformed, "read left-out", "a line has no text")
            }
            list.append(LeftOut(step: value["step"]?.integer.map(Int.init), text: text))
        }
        return list
    }

    /// Encodes the file `left-out`. The result is never larger than `sizeLimit`.
    package static func file(_ list: [LeftOut]) -> [UInt8] {
        var bytes: [UInt8] = []
        for item in list {
            let line = LeftOut(step: item.step, text: shortened(item.text)).line()
            guard bytes.count + line.count <= sizeLimit - lastLineBytes else {
                return bytes + LeftOut(step: item.step, text: more).line()
            }
            bytes += line
        }
        return bytes
    }

    /// The size in bytes reserved for the line that states that there are more files.
    private static let lastLineBytes = 200

    /// Leaves out the middle: a path can be long, and the reason is at the end.
    private static func shortened(_ text: String) -> String {
        let count = text.utf8.count
        guard count > textLimit else { return text }
        let (mark, half) = ("…", textLimit / 2)
        var head = text.utf8.index(text.startIndex, offsetBy: half - mark.utf8.count)
        var tail = text.utf8.index(text.startIndex, offsetBy: count - half)
        while head.samePosition(in: text.unicodeScalars) == nil { head = text.utf8.index(before: head) }
        while tail.samePosition(in: text.unicodeScalars) == nil { tail = text.utf8.index(after: tail) }
        return String(text.unicodeScalars[..<head]) + mark + String(text.unicodeScalars[tail...])
    }

    /// Encodes the line with its newline.
    package func line() -> [UInt8] {
        var members: [String: JSON] = ["text": .string(text)]
        if let step { members["step"] = .integer(Int64(step)) }
        return JSON.object(members).bytes() + [0x0A]
    }
}
