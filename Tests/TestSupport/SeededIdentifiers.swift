import Basics
import Synchronization
package import Testing

/// Identifiers that are the same in each run of a test. They differ between tests, also between parallel ones.
package final class SeededIdentifiers: IdentifierSource {
    private let seed: UInt64
    private let count = Mutex<UInt64>(0)

    /// Creates the source.
    /// - Parameter seed: The running test by default, by its module and name. Moving the test in its file changes no identifier.
    package convenience init(seed: Test? = Test.current) {
        self.init(seed: seed.map { "\($0.sourceLocation.moduleName)/\($0.name)" } ?? "")
    }

    package init(seed: String) {
        // FNV-1a is used because the seed of `Hasher` differs between runs.
        self.seed = seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    package func next() -> String {
        let count = count.withLock { count in
            count += 1
            return count
        }
        return Base32.encode(high: Self.mix(seed &+ count), low: Self.mix(seed ^ count &* 0x9E37_79B9_7F4A_7C15))
    }

    /// SplitMix64's finalizer.
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
