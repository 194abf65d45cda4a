/// A position in a text. Both numbers count from 1.
struct Position: Hashable, Comparable, Sendable {
    var line: Int
    var column: Int

    static let start = Position(line: 1, column: 1)

    static func < (left: Position, right: Position) -> Bool { (left.line, left.column) < (right.line, right.column) }
}
