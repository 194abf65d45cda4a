/// The lines that a terminal shows after a job's output: a later print at the same place replaces an earlier one.
///
/// The cursor reaches `recentRows` lines up, so that progress bars show their last state and no job rewrites what it printed long ago. Moves to a
/// place on the screen change only the column, and clearing the whole screen does nothing: a log has no screen, and what was printed stays.
struct TerminalScreen {
    /// The most characters of a line that are kept.
    static let maximumColumns = 4096
    /// How many lines up the cursor can move.
    static let recentRows = 100
    /// The longest escape sequence, in bytes. If it does not end by then, it is shown as text.
    static let maximumSequenceBytes = 256
    /// The longest sequence of a link, in bytes.
    static let maximumLinkBytes = 2200
    /// The most characters that moves of the cursor may skip, and that erasing, inserting and deleting may touch, for all lines together. Later
    /// sequences of these kinds do nothing. Otherwise nine bytes of output could make 4,096 characters.
    static let maximumEdits = 1 << 18

    struct Cell {
        var scalar: Unicode.Scalar
        /// The index of the style in `styles`.
        var style: Int32
    }

    struct Row {
        /// The number of the log's line that first printed in this row; `nil` for a row below the last line, to which the cursor moved.
        var number: Int?
        /// The number of the log's line that last changed this row.
        var changed: Int
        /// Whether anything was printed in this row.
        var isPrinted = false
        var cells: [Cell] = []
        /// The number of characters beyond `maximumColumns`.
        var skipped = 0
    }

    private(set) var rows: [Row] = []
    private(set) var styles = [TerminalStyle()]
    /// The addresses of links.
    private(set) var links: [String] = []
    private var styleNumbers = [TerminalStyle(): Int32(0)]
    private var style = TerminalStyle()
    private var styleNumber: Int32 = 0
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)
    /// The number of the log's line that is being read.
    private var line: Int
    private var edits = Self.maximumEdits

    /// Reads output.
    /// - Parameters:
    ///   - bytes: Whole lines of a log; an incomplete last line is shown as it is.
    ///   - firstLine: The number of the first line.
    init(_ bytes: ArraySlice<UInt8>, firstLine: Int = 1) {
        line = firstLine
        guard !bytes.isEmpty else { return }
        rows.append(Row(number: line, changed: line))
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            readLine(bytes[start..<end])
            start = end + 1
            if start < bytes.endIndex { endLine() }
        }
        readLine(bytes[start...])
        // What a move of the cursor left below, such as the empty line after a progress, is not yet a line of the log.
        while rows.count - 1 > row, let last = rows.last, !last.isPrinted { rows.removeLast() }
    }

    private mutating func endLine() {
        line += 1
        column = 0
        row += 1
        if row == rows.count { rows.append(Row(number: line, changed: line)) }
    }

    private mutating func readLine(_ piece: ArraySlice<UInt8>) {
        var run = piece.startIndex
        var index = piece.startIndex
        while index < piece.endIndex {
            switch piece[index] {
            case 0x1B:
                print(piece[run..<index])
                index = escape(in: piece, at: index)
                run = index
            case 0x08, 0x0D:
                print(piece[run..<index])
                column = piece[index] == 0x0D ? 0 : max(0, column - 1)
                index += 1
                run = index
            default: index += 1
            }
        }
        print(piece[run...])
    }

    private mutating func print(_ run: ArraySlice<UInt8>) {
        guard !run.isEmpty else { return }
        // A row that a move of the cursor left empty is begun by what is printed there later. Rows above others keep their numbers, which grow.
        if !rows[row].isPrinted, row == rows.count - 1, rows[row].number != nil { rows[row].number = line }
        (rows[row].isPrinted, rows[row].changed) = (true, line)
        pad()
        if run.allSatisfy({ $0 < 0x80 }) {
            put(run.lazy.map { Unicode.Scalar($0) })
        } else {
            put(String(decoding: run, as: UTF8.self).unicodeScalars)
        }
    }

    private mutating func put(_ scalars: some Sequence<Unicode.Scalar>) {
        // Taken out of the row, so that each character is written in place.
        var cells = rows[row].cells
        rows[row].cells = []
        for scalar in scalars {
            guard column < Self.maximumColumns else {
                rows[row].skipped += 1
                continue
            }
            let cell = Cell(scalar: scalar, style: styleNumber)
            if column < cells.count { cells[column] = cell } else { cells.append(cell) }
            column += 1
        }
        rows[row].cells = cells
    }

    /// Fills the row with spaces up to the cursor.
    private mutating func pad() {
        let missing = column - rows[row].cells.count
        guard missing > 0 else { return }
        guard spend(missing) else {
            column = rows[row].cells.count
            return
        }
        rows[row].cells += Array(repeating: Cell(scalar: " ", style: 0), count: missing)
    }

    private mutating func spend(_ count: Int) -> Bool {
        guard edits >= count else { return false }
        edits -= count
        return true
    }

    // MARK: Sequences

    /// Reads an escape sequence.
    /// - Returns: The index at which text continues.
    private mutating func escape(in piece: ArraySlice<UInt8>, at start: Int) -> Int {
        let limit = min(piece.endIndex, start + Self.maximumSequenceBytes)
        var index = start + 1
        guard index < limit else { return index }
        switch piece[index] {
        case UInt8(ascii: "["):
            // ECMA-48, 5.4: parameters 0x30–0x3F, intermediates 0x20–0x2F, one final 0x40–0x7E.
            index += 1
            let parameters = index
            while index < limit, (0x20...0x3F).contains(piece[index]) { index += 1 }
            guard index < limit, (0x40...0x7E).contains(piece[index]) else { return index }
            control(piece[index], piece[parameters..<index])
            return index + 1
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            return string(in: piece, at: start)
        case UInt8(ascii: "7"): saved = (row, column)
        case UInt8(ascii: "8"): restore()
        case UInt8(ascii: "M"): move(rows: -1)
        default: break
        }
        return index + 1
    }

    /// Reads a string up to BEL or `ESC \`: OSC, DCS, SOS, PM or APC. Only links have an effect.
    private mutating func string(in piece: ArraySlice<UInt8>, at start: Int) -> Int {
        let text = start + 2
        let isLink = piece[(start + 1)...].starts(with: "]8;".utf8)
        let limit = min(piece.endIndex, start + (isLink ? Self.maximumLinkBytes : Self.maximumSequenceBytes))
        var index = text
        while index < limit {
            if piece[index] == 0x07 || piece[index] == 0x1B {
                let isString = piece[index] == 0x1B
                let isEnded = !isString || index + 1 < limit && piece[index + 1] == UInt8(ascii: "\\")
                guard isEnded else { return index }
                if isLink { link(piece[text..<index]) }
                return index + (isString ? 2 : 1)
            }
            index += 1
        }
        return text
    }

    /// Begins or ends a link: `8;PARAMETERS;ADDRESS`. An address that is not http(s) ends a link, too.
    private mutating func link(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ";"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return }
        style.link = nil
        if WebAddress.isWhole(parts[2]) {
            style.link = links.count
            links.append(String(decoding: parts[2], as: UTF8.self))
        }
        intern()
    }

    private mutating func intern() {
        if let known = styleNumbers[style] {
            styleNumber = known
            return
        }
        styleNumber = Int32(clamping: styles.count)
        styleNumbers[style] = styleNumber
        styles.append(style)
    }

    private mutating func control(_ final: UInt8, _ parameters: ArraySlice<UInt8>) {
        if final == UInt8(ascii: "m") {
            style.apply(parameters)
            return intern()
        }
        let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).prefix(2)
            .map { Int(String(decoding: $0, as: UTF8.self)) }
        let first = numbers.first ?? nil
        // Absent and 0 mean 1 in moves.
        let count = min(max(1, first ?? 1), Self.maximumColumns)
        switch final {
        case UInt8(ascii: "A"): move(rows: -count)
        case UInt8(ascii: "B"), UInt8(ascii: "e"): move(rows: count)
        case UInt8(ascii: "C"), UInt8(ascii: "a"): column = min(column + count, Self.maximumColumns)
        case UInt8(ascii: "D"): column = max(0, column - count)
        case UInt8(ascii: "E"), UInt8(ascii: "F"):
            move(rows: final == UInt8(ascii: "E") ? count : -count)
            column = 0
        case UInt8(ascii: "G"), UInt8(ascii: "`"): column = count - 1
        case UInt8(ascii: "H"), UInt8(ascii: "f"):
            let wanted = numbers.count > 1 ? numbers[1] : nil
            column = min(max(1, wanted ?? 1), Self.maximumColumns) - 1
        case UInt8(ascii: "J"): eraseRows(first ?? 0)
        case UInt8(ascii: "K"): erase(first ?? 0)
        case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "@"): edit(final, count)
        case UInt8(ascii: "s"): saved = (row, column)
        case UInt8(ascii: "u"): restore()
        default: break
        }
    }

    // MARK: The cursor

    /// The highest row that the cursor reaches.
    private var top: Int { max(0, rows.count - 1 - Self.recentRows) }

    private mutating func move(rows count: Int) {
        row = max(top, row + count)
        while row >= rows.count {
            guard spend(1) else {
                row = rows.count - 1
                return
            }
            rows.append(Row(number: nil, changed: line))
        }
    }

    private mutating func restore() {
        row = min(max(saved.row, top), max(0, rows.count - 1))
        column = saved.column
    }

    // MARK: Erasing

    /// Erases parts of the cursor's row: 0 from the cursor on, 1 up to the cursor, 2 all.
    private mutating func erase(_ what: Int) {
        rows[row].changed = line
        let count = rows[row].cells.count
        switch what {
        case 0: rows[row].cells.removeLast(max(0, count - column))
        case 1:
            let end = min(column + 1, count)
            guard spend(end) else { return }
            for index in 0..<end { rows[row].cells[index] = Cell(scalar: " ", style: 0) }
            return
        case 2: rows[row].cells = []
        default: return
        }
        rows[row].skipped = 0
    }

    /// Erases rows: 0 from the cursor on, 1 up to the cursor.
    private mutating func eraseRows(_ what: Int) {
        guard what == 0 || what == 1 else { return }
        erase(what)
        let others = what == 0 ? row + 1..<rows.count : top..<max(top, row)
        guard spend(others.count) else { return }
        for other in others { (rows[other].cells, rows[other].skipped, rows[other].changed) = ([], 0, line) }
    }

    /// Deletes, erases or inserts characters at the cursor.
    private mutating func edit(_ final: UInt8, _ count: Int) {
        let length = rows[row].cells.count
        guard column < length, spend(length) else { return }
        rows[row].changed = line
        let end = min(length, column + count)
        let blanks = Array(repeating: Cell(scalar: " ", style: 0), count: end - column)
        switch final {
        case UInt8(ascii: "P"): rows[row].cells.removeSubrange(column..<end)
        case UInt8(ascii: "X"): rows[row].cells.replaceSubrange(column..<end, with: blanks)
        default:
            rows[row].cells.insert(contentsOf: blanks, at: column)
            rows[row].cells.removeLast(max(0, rows[row].cells.count - Self.maximumColumns))
        }
    }
}
