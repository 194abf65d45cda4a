/// A file of the job that a supervisor did not copy: a line of the file `left-out`, which is absent if every file was copied.
package struct LeftOut: Sendable, Equatable {
    /// The most bytes of `left-out`.
    package static let sizeLimit = 4 << 20
    /// The most files that are named of one place; a further line says that there are more.
    package static let countLimit = 100

    /// The step whose report it is; `nil` for an archived file.
    package let step: Int?
    /// Which file was left out, and why, with secrets masked.
    package let text: String

    package init(step: Int?, text: String) {
        self.step = step
        self.text = text
    }

    /// Reads the file `left-out`.
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

    /// Returns the line, with its end.
    package func line() -> [UInt8] {
        var members: [String: JSON] = ["text": .string(text)]
        if let step { members["step"] = .integer(Int64(step)) }
        return JSON.object(members).bytes() + [0x0A]
    }
}
