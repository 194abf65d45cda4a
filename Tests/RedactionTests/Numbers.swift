/// Knuth's MMIX generator, which yields the same numbers for a seed in each run.
struct Numbers {
    var state: UInt64

    /// Returns a number from 1 to `limit`.
    mutating func upTo(_ limit: UInt64) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % limit) + 1
    }
}
