import Model

/// A reader of serialized diagnostics (`.dia`), which swiftc and clang write beside object files.
///
/// They contain the console's diagnostics with exact places and without a console's limits, but only for the files that a build compiled. Notes
/// belong to the diagnostic before them and are no findings.
enum SerializedDiagnostics {
    private enum Record { static let version = 1, diagnostic = 2, flag = 4, category = 5, file = 6 }
    private static let diagnosticBlock = 9

    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        guard bytes.starts(with: Array("DIAG".utf8)) else { return .unreadable("no serialized diagnostics") }
        var stream = Bitstream(bytes, from: 4)
        var state = State(root: root)
        do {
            while !stream.isAtEnd {
                guard case .block(let block) = try stream.next() else { continue }
                if block == diagnosticBlock {
                    try state.readDiagnostic(&stream, depth: 1)
                } else {
                    try state.readMeta(&stream)
                }
            }
        } catch {
            let text = "serialized diagnostics, byte \(stream.place): \(error.text)"
            return state.list.content(unreadable: text)
        }
        guard state.hasVersion else { return .unreadable("serialized diagnostics without a version") }
        return state.list.content(unreadable: nil)
    }

    private struct State {
        var list: FindingList
        var hasVersion = false
        private var files: [UInt64: String] = [:]
        private var categories: [UInt64: String] = [:]
        private var flags: [UInt64: String] = [:]

        init(root: SourceRoot) { list = FindingList(root: root) }

        mutating func readMeta(_ stream: inout Bitstream) throws(Bitstream.Failure) {
            while true {
                switch try stream.next() {
                case .end: return
                case .block: try stream.skipBlock()
                case .record(let code, let fields, _):
                    guard code == Record.version else { continue }
                    guard let version = fields.first, version <= 2 else {
                        throw Bitstream.Failure(text: "version \(fields.first ?? 0) is not supported")
                    }
                    hasVersion = true
                }
            }
        }

        mutating func readDiagnostic(_ stream: inout Bitstream, depth: Int) throws(Bitstream.Failure) {
            var found: (severity: UInt64, fields: [UInt64], text: String)?
            while true {
                switch try stream.next() {
                case .end:
                    if let found, depth == 1 { add(found) }
                    return
                case .block(let block):
                    // The nested block is a note.
                    if block == diagnosticBlock {
                        try readDiagnostic(&stream, depth: depth + 1)
                    } else {
                        try stream.skipBlock()
                    }
                case .record(let code, let fields, let blob):
                    let text = String(decoding: blob, as: UTF8.self)
                    switch code {
                    case Record.file: files[fields.first ?? 0] = text
                    case Record.category: categories[fields.first ?? 0] = text
                    case Record.flag: flags[fields.first ?? 0] = text
                    // The fields are severity, file, line, column, offset, category, flag and the text's length.
                    case Record.diagnostic where fields.count >= 7: found = (fields[0], fields, text)
                    default: break
                    }
                }
            }
        }

        /// Adds a diagnostic. Severities are 0 ignored, 1 note, 2 warning, 3 error, 4 fatal error, 5 remark.
        private mutating func add(_ found: (severity: UInt64, fields: [UInt64], text: String)) {
            guard (2...4).contains(found.severity) else { return }
            let fields = found.fields
            // The diagnostic's group is swiftc's category, and clang's flag: `-Wunused-variable`. swiftc's flag is the address of the group's
            // description.
            let flag = flags[fields[6]].flatMap { $0.contains("://") ? nil : $0.hasPrefix("-") ? $0 : "-W" + $0 }
            let rule = flag ?? categories[fields[5]].map { String($0.prefix { $0 != "@" }) }
            var path = files[fields[1]]
            if path?.hasPrefix("<") == true || path?.isEmpty == true { path = nil }
            list.add(
                found.text, rule: rule, path: path, line: Int(truncatingIfNeeded: fields[2] & 0xFFFF_FFFF),
                column: Int(truncatingIfNeeded: fields[3] & 0xFFFF_FFFF),
                category: found.severity == 2 ? .warning : .error)
        }
    }
}
