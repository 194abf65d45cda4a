import Basics
import Synchronization
package import Testing

/// Identifiers that are the same in each run of a test and differ between tests, also in parallel ones.
package final class SeededIdentifiers: IdentifierSource {
    private let seed: UInt64
    private let count = Mutex<UInt64>(0)

    /// - Parameter seed: Usually the running test, by its module and name: moving it in its file changes nothing.
    package convenience init(seed: Test? = Test.current) {
        self.init(seed: seed.map { "\($0.sourceLocation.moduleName)/\($0.name)" } ?? "")
    }

    package init(seed: String) {
        // FNV-1a: Hasher's seed differs from run to run.
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
