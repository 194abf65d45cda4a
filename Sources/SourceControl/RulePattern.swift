/// How long the lines of a commit's `.gitignore` and `.gitattributes` may take to match with one path. libgit2 cannot be stopped, and
/// tries every way in which wildcards can be filled: of k of them in a name of n bytes the sum of C(n, j) for j ≤ k. Seen with
/// libgit2 1.5.1: 28 stars and 29 letters, 5 × 10⁸ ways, take 3.8 s; twelve stars more had no end within 25 s.
struct RulePattern {
    /// Ways of one question: of all lines together, since each is tried. About 1.5 s.
    static let maximumWays = 2e8

    /// The longest name in bytes, and the most directories in each other.
    struct Longest: Hashable {
        var name = 0
        var depth = 0

        func covers(_ other: Longest) -> Bool { other.name <= name && other.depth <= depth }
    }

    /// What a line costs: the stars of each part of it between slashes, and how many stand for directories.
    private struct Shape: Hashable {
        var stars: [Int] = []
        var crossing = 0
    }

    /// The longest of the commit's own paths.
    let longest: Longest
    private var shapes: [Shape: Double] = [:]
    private var ways = 0.0
    private var answers: [Longest: Bool] = [:]

    init(longest: Longest) { self.longest = longest }

    static func longest(in paths: [[UInt8]]) -> Longest {
        var longest = Longest()
        for path in paths {
            let one = Self.longest(of: path[...])
            longest.name = max(longest.name, one.name)
            longest.depth = max(longest.depth, one.depth)
        }
        return longest
    }

    static func longest(of path: ArraySlice<UInt8>) -> Longest {
        let parts = path.split(separator: 0x2f)
        return Longest(name: parts.map(\.count).max() ?? 0, depth: parts.count)
    }

    /// Takes a file's lines.
    /// - Returns: The number of the line, from 1, with which the commit's own paths take too long; nothing: they do not.
    mutating func add(_ file: [UInt8]) -> Int? {
        for (index, line) in file.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty && line.first != UInt8(ascii: "#") {
            let shape = Self.shape(of: line)
            shapes[shape, default: 0] += 1
            ways += Self.ways(of: shape, longest)
            if ways > Self.maximumWays { return index + 1 }
        }
        return nil
    }

    /// Whether a path may be asked about. A job can leave names that are longer than all of the commit's.
    mutating func mayAsk(_ path: ArraySlice<UInt8>) -> Bool {
        let asked = Self.longest(of: path)
        if longest.covers(asked) { return true }
        if let known = answers[asked] { return known }
        let sum = shapes.reduce(0) { $0 + $1.value * Self.ways(of: $1.key, asked) }
        answers[asked] = sum <= Self.maximumWays
        return sum <= Self.maximumWays
    }

    /// `**` stands for directories, `*` for a part of a name, of which each part of the pattern has one.
    private static func shape(of line: ArraySlice<UInt8>) -> Shape {
        var shape = Shape()
        for part in line.split(separator: 0x2f) {
            var (stars, run) = (0, 0)
            for byte in part + [0] {
                if byte == UInt8(ascii: "*") {
                    run += 1
                } else if run > 0 {
                    if run > 1 { shape.crossing += 1 } else { stars += 1 }
                    run = 0
                }
            }
            if stars > 0 { shape.stars.append(stars) }
        }
        return shape
    }

    private static func ways(of shape: Shape, _ longest: Longest) -> Double {
        shape.stars.reduce(choices(longest.depth, shape.crossing)) { $0 * choices(longest.name, $1) }
    }

    /// The sum of C(count, j) for j ≤ chosen, as far as it is of interest.
    private static func choices(_ count: Int, _ chosen: Int) -> Double {
        var (sum, term) = (1.0, 1.0)
        for j in 0..<min(chosen, count) where sum <= maximumWays {
            term *= Double(count - j) / Double(j + 1)
            sum += term
        }
        return sum
    }
}
