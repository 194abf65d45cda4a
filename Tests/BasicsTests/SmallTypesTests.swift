import Basics
import Foundation
import TestSupport
import Testing

@Suite struct ConstantTimeTests {
    @Test func testThatItComparesEveryByte() {
        #expect(ConstantTime.areEqual([], []))
        #expect(ConstantTime.areEqual([1, 2, 3], [1, 2, 3]))
        for index in 0..<32 {
            var other = [UInt8](repeating: 7, count: 32)
            other[index] ^= 1
            #expect(!ConstantTime.areEqual([UInt8](repeating: 7, count: 32), other))
        }
        #expect(!ConstantTime.areEqual([1, 2], [1, 2, 3]))
    }

    /// W3: Welch's t between codes without a right byte and codes with some, 20,000 tries each. The slowest twentieth is left out. A figure needs
    /// a quiet machine.
    @Test(
        .proves(.badInput, "Signatures, tokens and codes are compared by one function, in constant time (W3)"),
        .enabled(if: ProcessInfo.processInfo.environment["MARTLET_MEASURE"] != nil, "it measures; set MARTLET_MEASURE"))
    func testW3ThatTheTimeDoesNotTellHowMuchIsRight() {
        let right = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        let clock = ContinuousClock()
        func time(_ given: [UInt8]) -> Double {
            Double(clock.measure { for _ in 0..<8 { _ = ConstantTime.areEqual(right, given) } }.components.attoseconds)
        }
        func moments(_ times: [Double]) -> (mean: Double, variance: Double) {
            let kept = times.sorted().prefix(times.count * 19 / 20)
            let mean = kept.reduce(0, +) / Double(kept.count)
            return (mean, kept.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(kept.count) / Double(kept.count))
        }
        let wrong = right.map { ~$0 }
        var largest = 0.0
        for length in 0..<64 {
            let partly = Array(right[..<length] + wrong[length...])
            var times: (none: [Double], some: [Double]) = ([], [])
            for _ in 0..<20_000 {
                times.none.append(time(wrong))
                times.some.append(time(partly))
            }
            let (none, some) = (moments(times.none), moments(times.some))
            largest = max(largest, abs(none.mean - some.mean) / (none.variance + some.variance).squareRoot())
        }
        print("largest t: \(largest)")
        #expect(largest < 4.5)
    }
}

@Suite struct RandomIdentifiersTests {
    @Test func testThatTheyAreTwentySixLowerCaseCharactersAndDiffer() {
        let identifiers = (0..<1000).map { _ in RandomIdentifiers().next() }
        #expect(Set(identifiers).count == 1000)
        #expect(
            identifiers.allSatisfy {
                $0.utf8.count == 26 && $0.allSatisfy { "abcdefghijklmnopqrstuvwxyz234567".contains($0) }
            })
    }

    @Test func testThatBase32CarriesAllBits() {
        #expect(Base32.encode(high: 0, low: 0) == "aaaaaaaaaaaaaaaaaaaaaaaaaa")
        #expect(Base32.encode(high: .max, low: .max) == "77777777777777777777777774")
        // RFC 4648 section 10: "foobar" is MZXW6YTBOI.
        #expect(Base32.encode(high: 0x666F_6F62_6172_0000, low: 0).hasPrefix("mzxw6ytboi"))
    }
}

@Suite struct BackoffTests {
    @Test func testThatItDoublesUpToTheLimitAndBeginsAnewAfterASuccess() {
        var backoff = Backoff(first: .seconds(1), limit: .seconds(5), jitter: { 1 })
        #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.next() == .seconds(1))
    }

    @Test func testThatItScattersBetweenHalfAndWhole() {
        for _ in 0..<100 {
            var backoff = Backoff(first: .seconds(2), limit: .seconds(60))
            #expect((.seconds(1)...(.seconds(2))).contains(backoff.next()))
        }
    }

    @Test func testThatItNeverOverflows() {
        var backoff = Backoff(first: .seconds(1), limit: .seconds(1 << 60), jitter: { 1 })
        for _ in 0..<200 { _ = backoff.next() }
        #expect(backoff.next() == .seconds(1 << 60))
    }
}
