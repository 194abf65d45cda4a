import Foundation
import Model

/// Functions that format and print the output of commands.
enum Output {
    /// Returns a table without heads and colors.
    static func table(_ rows: [[String]]) -> String { Terminal.plain.table(rows.map { $0.map { Cell($0) } }) }

    static func print(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    static func print(_ bytes: [UInt8]) { FileHandle.standardOutput.write(Data(bytes)) }

    /// Prints a remark that is no part of the result to standard error.
    static func remark(_ text: String) { FileHandle.standardError.write(Data("\(visible(text))\n".utf8)) }

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
