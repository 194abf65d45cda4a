/// How long a line of `.gitignore` or `.gitattributes` may take to match: libgit2 tries every way in which its wildcards can be
/// filled, C(n, k) for k of them in a name of n bytes. Seen: `*a*a*a*ab` and a name of 200 bytes take 2.8 s, one more star 25 s.
enum RulePattern {
    /// Ways of one match; about 0.3 s.
    static let maximumWays = 2e7

    /// The longest name, and the most directories in each other.
    struct Longest {
        var name = 0
        var depth = 0
    }

    static func longest(in paths: [[UInt8]]) -> Longest {
        var longest = Longest()
        for path in paths {
            let parts = path.split(separator: 0x2f)
            longest.name = max(longest.name, parts.map(\.count).max() ?? 0)
            longest.depth = max(longest.depth, parts.count)
        }
        return longest
    }

    /// The number of the first line that may take too long, from 1.
    static func firstSlow(in file: [UInt8], longest: Longest) -> Int? {
        for (index, line) in file.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            if line.first != UInt8(ascii: "#"), ways(of: line, longest) > maximumWays { return index + 1 }
        }
        return nil
    }

    /// `**` stands for directories, `*` for a part of a name, of which each part of the pattern has one.
    private static func ways(of line: ArraySlice<UInt8>, _ longest: Longest) -> Double {
        var (ways, crossing) = (1.0, 0)
        for part in line.split(separator: 0x2f) {
            var (stars, isStar, run) = (0, false, 0)
            for byte in part + [0] {
                if byte == UInt8(ascii: "*") {
                    run += 1
                    isStar = true
                } else if isStar {
                    if run > 1 { crossing += 1 } else { stars += 1 }
                    (isStar, run) = (false, 0)
                }
            }
            ways *= combinations(longest.name, stars)
        }
        return ways * combinations(longest.depth, crossing)
    }

    private static func combinations(_ count: Int, _ chosen: Int) -> Double {
        (0..<min(chosen, 1000)).reduce(1.0) { $0 * max(1, Double(count - $1)) / Double($1 + 1) }
    }
}
