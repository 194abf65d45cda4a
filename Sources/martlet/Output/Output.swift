import Foundation
import Model

/// Functions that format and print the output of commands.
enum Output {
    /// Formats a table whose columns are aligned by their widest cells. The last column is not padded. Each cell is reduced to one line.
    static func table(_ rows: [[String]]) -> String {
        let rows = rows.map { $0.map(visible) }
        guard let columns = rows.map(\.count).max() else { return "" }
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count + 2)
            }.joined() + "\n"
        }.joined()
    }

    static func print(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    static func print(_ bytes: [UInt8]) { FileHandle.standardOutput.write(Data(bytes)) }

    /// Returns text from outside as one line for a terminal: without line breaks, and without characters that control the terminal or change the
    /// order.
    static func visible(_ text: String) -> String { text.inOneLine }

    /// Returns a duration such as `38 s`, `4 min 12 s` or `0.4 s`.
    static func duration(_ seconds: Double) -> String {
        let tenths = Int(clamping: seconds * 10)
        if tenths < 10 { return tenths == 0 ? "0 s" : "0.\(tenths) s" }
        let whole = Int(clamping: seconds.rounded())
        return whole < 120 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
    }
}
