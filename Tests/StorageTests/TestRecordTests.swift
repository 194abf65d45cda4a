import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct TestRecordTests {
    private static func columns(_ ids: [Int64], seed: Int = 0) -> TestColumns {
        var columns = TestColumns()
        for (place, id) in ids.enumerated() {
            let number = Int(id) &* 7919 &+ seed
            columns.ids.append(id)
            columns.outcomes.append(number % 97 == 0 ? .failed : number % 89 == 0 ? .skipped : .passed)
            columns.durations.append(DurationCode(number % 5 == 0 ? nil : .microseconds(Int64(number % 90_000) * 13)))
            if number % 11 == 0 {
                columns.details[place] = .init(
                    message: number % 22 == 0 ? "not here \(number % 3)" : nil, path: "Tests/\(number % 7).swift",
                    line: number % 33 == 0 ? nil : number % 400)
            }
        }
        return columns
    }

    private static func read(_ bytes: [UInt8], _ profile: TestColumns?) throws -> TestColumns {
        let zstd = try Zstd()
        return try TestRecord(bytes, profile: profile, zstd).columns(durations: true, details: true, zstd)
    }

    @Suite struct GivenNoProfile {
        @Test(arguments: [0, 1, 2, 2047, 2048, 2049, 5000])
        func testThatWhatIsWrittenIsRead(_ count: Int) throws {
            let columns = TestRecordTests.columns((0..<count).map { Int64($0 * 3 / 2 + 1) })
            let bytes = try TestRecord.bytes(of: columns, against: nil, own: [], try Zstd())
            #expect(try TestRecordTests.read(bytes, nil) == columns)
        }

        @Test func testThatATestIsFoundAlone() throws {
            // given
            let columns = TestRecordTests.columns((1...5000).map { Int64($0 * 2) })
            let zstd = try Zstd()
            let record = try TestRecord(
                TestRecord.bytes(of: columns, against: nil, own: [], zstd), profile: nil, zstd)
            // then
            for place in stride(from: 0, to: 5000, by: 61) {
                let test = try #require(try record.test(columns.ids[place], zstd))
                #expect(test.outcome == columns.outcomes[place])
                #expect(test.duration == columns.durations[place])
                #expect(try record.detail(columns.ids[place], zstd) == columns.details[place])
            }
            #expect(try record.test(3, zstd) == nil)
            #expect(try record.test(0, zstd) == nil)
            #expect(try record.test(10_002, zstd) == nil)
        }
    }

    @Suite struct GivenAProfile {
        /// Lists beside the profile's 1…5000: the same, some missing, some new, and combinations.
        static let lists: [[Int64]] = [
            Array(1...5000), Array(40...4000), Array(1...5100), Array(2501...7500), [], [1], [6000],
            (1...5000).filter { $0 % 3 != 0 }, (1...9000).filter { $0 % 2 == 0 },
        ]

        @Test(
            .proves(
                .testHistory,
                "Per attempt one compressed record of all its tests; rows only for what is not passed or has changed against the branch's integration before"
            ),
            .proves(
                .testHistory,
                "20,000 tests × 5 configurations × 5,000 integrations: one integration stored in ≤ 1 s, any answer ≤ 50 ms p95; measured, with the size on disk"
            ), arguments: lists.indices)
        func testThatWhatIsWrittenIsRead(_ list: Int) throws {
            // given
            let profile = TestRecordTests.columns(Array(1...5000))
            let columns = TestRecordTests.columns(Self.lists[list], seed: 5)
            let zstd = try Zstd()
            // when
            let bytes = try TestRecord.bytes(of: columns, against: profile, own: [], zstd)
            // then
            #expect(try TestRecordTests.read(bytes, profile) == columns)
            let record = try TestRecord(bytes, profile: profile, zstd)
            for id: Int64 in stride(from: 0, through: 9100, by: 37) {
                let test = try record.test(id, zstd)
                let place = columns.place(of: id)
                #expect(test?.outcome == place.map { columns.outcomes[$0] })
                #expect(test?.duration == place.map { columns.durations[$0] })
                #expect(try record.detail(id, zstd) == place.flatMap { columns.details[$0] })
            }
        }

        @Test(
            .proves(
                .testHistory,
                "Per attempt one compressed record of all its tests; rows only for what is not passed or has changed against the branch's integration before"
            ))
        func testThatTheSameAgainCostsNothing() throws {
            let profile = TestRecordTests.columns(Array(1...20_000))
            let bytes = try TestRecord.bytes(of: profile, against: profile, own: [], try Zstd())
            #expect(bytes.count < 300)
        }

        @Test func testThatARecordWithoutItsProfileIsDamaged() throws {
            let columns = TestRecordTests.columns(Array(1...100))
            let bytes = try TestRecord.bytes(of: columns, against: columns, own: [], try Zstd())
            #expect(throws: RecordReader.Damaged.self) { try TestRecordTests.read(bytes, nil) }
        }
    }

    @Suite(
        .proves(
            .testHistory,
            "No record needs more than one other, so that old integrations can go; a damaged one is said, and never a trap"
        ))
    struct GivenDamagedBytes {
        @Test func testThatEveryCutIsFound() throws {
            let columns = TestRecordTests.columns(Array(1...3000))
            let bytes = try TestRecord.bytes(of: columns, against: nil, own: [], try Zstd())
            for count in stride(from: 0, to: bytes.count, by: 13) {
                #expect(throws: RecordReader.Damaged.self) { try TestRecordTests.read(Array(bytes[..<count]), nil) }
            }
            #expect(throws: RecordReader.Damaged.self) { try TestRecordTests.read(bytes + [0], nil) }
        }

        @Test(arguments: [false, true]) func testThatNoChangeOfItTraps(_ hasProfile: Bool) throws {
            // given
            let profile = hasProfile ? TestRecordTests.columns(Array(1...300)) : nil
            let columns = TestRecordTests.columns((1...300).filter { $0 % 5 != 0 } + Array(400...500), seed: 3)
            let zstd = try Zstd()
            let good = try TestRecord.bytes(of: columns, against: profile, own: [], zstd)
            var random = Mutator(state: 41)
            var refused = 0
            // when
            for _ in 0..<4000 {
                var bytes = good
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                        in: .min ... .max, using: &random)
                }
                do {
                    let record = try TestRecord(bytes, profile: profile, zstd)
                    for id: Int64 in [1, 299, 450] { _ = try record.test(id, zstd) }
                    _ = try record.columns(durations: true, details: true, zstd)
                } catch is RecordReader.Damaged {
                    refused += 1
                }
            }
            // then: zstd's frames have no checksum here, so a changed duration may be read
            #expect(refused > 2000)
        }
    }

    @Suite struct GivenADuration {
        static let durations: [(Int64, Int64)] = [
            (0, 0), (1, 1), (999, 999), (1000, 1000), (1004, 1000), (1005, 1010), (9994, 9990), (9995, 10_000),
            (12_345, 12_300), (1_234_567, 1_230_000), (999_999, 1_000_000), (86_399_999_999, 86_400_000_000),
        ]

        @Test(arguments: durations) func testThatThreeDigitsAreKept(_ exact: Int64, _ kept: Int64) {
            #expect(DurationCode(.microseconds(exact)).duration == .microseconds(kept))
        }

        @Test func testThatNoneIsNone() {
            #expect(DurationCode(nil).duration == nil)
            #expect(DurationCode(.seconds(-3)).duration == .zero)
        }

        @Test func testThatTheLongestIsReadAsALongOne() throws {
            let code = DurationCode(.seconds(Int64.max))
            #expect(code.code <= DurationCode.maximum)
            #expect(try #require(code.duration) > .seconds(1_000_000_000_000))
            #expect(try #require(DurationCode(code: Int(DurationCode.maximum))?.duration) > .zero)
        }
    }
}
