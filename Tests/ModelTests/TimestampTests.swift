import Foundation
import Model
import TestSupport
import Testing

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_772_366_400_250, "2026-03-01T12:00:00.250Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func testThatItPrintsRFC3339(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
    }

    @Test(.proves(.model, "Terms as values: names, refs, commits, versions, times, sizes"))
    func testThatEveryDayOfFourHundredYearsIsTheCalendars() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: Int64(-30_000), to: 116_000, by: 13) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day * 86_400)))
            let date = Timestamp(secondsSinceEpoch: day * 86_400).date
            #expect([date.year, date.month, date.day] == [parts.year, parts.month, parts.day].map { Int64($0 ?? 0) })
        }
    }

    @Test func testThatItCountsWithDurations() {
        let start = Timestamp(secondsSinceEpoch: 10)
        #expect((start + .milliseconds(1500)).millisecondsSinceEpoch == 11_500)
        #expect(start + .milliseconds(250) - start == .milliseconds(250))
        #expect(start < start + .milliseconds(1))
        #expect(Duration.milliseconds(1500).seconds == 1.5)
        #expect(Duration.milliseconds(-1500).milliseconds == -1500)
    }
}

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (64 << 20, "64 MiB"),
            (1 << 30, "1 GiB"), (5 << 40, "5 TiB"), (1 << 50, "1024 TiB"), ((1 << 20) - 1, "1023 KiB"), (-5, "-5 B"),
            (Int64.max, "8388607 TiB"),
        ] as [(Int64, String)])
    func testThatItIsShownInBinaryUnits(bytes: Int64, text: String) { #expect(ByteCount(bytes).description == text) }

    @Test func testThatUnitsAreBinary() {
        #expect(ByteCount.kibibytes(2).bytes == 2048)
        #expect(ByteCount.mebibytes(1) < .gibibytes(1))
    }
}

@Suite struct CountsTests {
    @Test func testThatTheDifferenceIsOfEachNumber() {
        var left = Counts()
        (left.errors, left.warnings, left.analyzerWarnings, left.testFailures, left.tests) = (5, 4, 3, 2, 10)
        var right = Counts()
        (right.errors, right.warnings, right.analyzerWarnings, right.testFailures, right.tests) = (1, 1, 5, 0, 12)
        let difference = left - right
        #expect(difference.errors == 4 && difference.warnings == 3 && difference.analyzerWarnings == -2)
        #expect(difference.testFailures == 2 && difference.tests == -2)
    }
}

@Suite struct RecipeTests {
    private func recipe(_ names: [String], archive: Recipe.Archive = .init()) -> Recipe {
        Recipe(configurations: names.compactMap { Name($0) }.map { .init(name: $0) }, archive: archive)
    }

    @Test(.proves(.steps, "From the configuration `release`, else the first; `include` names files instead"))
    func testThatReleaseIsArchivedElseTheFirst() {
        #expect(recipe(["debug", "release"]).archivedConfiguration?.description == "release")
        #expect(recipe(["debug", "other"]).archivedConfiguration?.description == "debug")
        #expect(
            recipe(["debug", "release"], archive: .init(configuration: Name("debug"))).archivedConfiguration?
                .description == "debug")
        #expect(recipe(["debug"], archive: .init(include: [])).archivedConfiguration == nil)
    }
}

extension TimestampTests {
    @Test(arguments: [Int64.max, Int64.min, 253_402_300_800, -62_167_219_201])
    func testThatADateThatAHostileAuthorChoseIsHeldInTheYearsThatCanBeWritten(_ seconds: Int64) {
        let text = Timestamp(secondsSinceEpoch: seconds).description
        #expect(text == (seconds > 0 ? "9999-12-31T23:59:59.000Z" : "0000-01-01T00:00:00.000Z"))
    }

    @Test func testThatTheFirstAndLastMomentCanBePrinted() {
        #expect(!Timestamp(millisecondsSinceEpoch: .min).description.isEmpty)
        #expect(!Timestamp(millisecondsSinceEpoch: .max).description.isEmpty)
    }
}
