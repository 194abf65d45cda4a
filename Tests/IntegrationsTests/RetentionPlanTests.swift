import Integrations
import Model
import Storage
import TestSupport
import Testing

@Suite struct RetentionPlanTests {
    private static let day: Int64 = 86_400
    private static let now = Timestamp(secondsSinceEpoch: 1_000 * day)

    /// Returns rows, newest first, with these ages in days.
    private func rows(
        _ ages: [Int64], held: [Int: String] = [:], bytes: [Int64] = [], files: [Int64] = []
    ) -> [RetentionRow] {
        ages.enumerated().map { place, age in
            let number = ages.count - place
            return RetentionRow(
                id: IntegrationID(bot: Name(nearest: "kit"), number: number), run: 1,
                at: Timestamp(secondsSinceEpoch: (1_000 - age) * Self.day), holder: held[number],
                disk: DiskUse(
                    bytes: bytes.isEmpty ? 1 : bytes[place], files: files.isEmpty ? 1 : files[place]))
        }
    }

    private func gone(_ rows: [RetentionRow], _ retention: Retention, at time: Timestamp? = Self.now) -> [Int: String] {
        let items = RetentionPlan(rows, keeping: retention, at: time).items
        #expect(items.map(\.row.id) == rows.map(\.id))
        return Dictionary(uniqueKeysWithValues: items.filter(\.goes).map { ($0.row.id.number, $0.reason) })
    }

    @Test func testThatWithoutLimitsNothingGoes() {
        let plan = RetentionPlan(rows([1, 9000]), keeping: Retention(), at: Self.now)
        #expect(plan.items.allSatisfy { !$0.goes && $0.reason == "it has no limit" })
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatTheNewestStayAndWhatIsHeldBeyondThem() {
        let rows = rows([1, 2, 3, 4, 5], held: [2: "the newest green one of main"])
        let gone = gone(rows, Retention(integrations: .most(2)))
        #expect(gone == [1: "more than the 2 newest", 3: "more than the 2 newest"])
        let plan = RetentionPlan(rows, keeping: Retention(integrations: .most(2)), at: Self.now)
        #expect(
            plan.items.filter { !$0.goes }.map(\.reason) == [
                "within the limits", "within the limits", "the newest green one of main",
            ])
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatWhatIsOlderThanItsAgeGoes() {
        let rows = rows([1, 90, 91, 300], held: [1: "it made kit 1.0.0"])
        #expect(gone(rows, Retention(age: .most(90 * Self.day))) == [2: "older than 90d"])
        #expect(gone(rows, Retention(age: .most(90 * Self.day)), at: nil).isEmpty)
        #expect(gone(rows, Retention(age: .off)).isEmpty)
    }

    @Test(.proves(.releases, "Versions: a clock that jumps prunes nothing early (C1)"))
    func testC1ThatAClockWhichWasBehindForAWhileMakesNothingOld() {
        // The third ended in 1970 by the machine's clock, after one that ended 10 days ago.
        #expect(gone(rows([1, 2, 1000, 10]), Retention(age: .most(90 * Self.day))).isEmpty)
        // One that ended in the future makes later ones younger, never older
        #expect(gone(rows([95, 94, -365, 96]), Retention(age: .most(90 * Self.day))) == [1: "older than 90d"])
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatTheOldestGoUntilTheRestFits() {
        let rows = rows([1, 2, 3, 4, 5], held: [1: "the newest of main"], bytes: [10, 20, 0, 30, 40])
        // 60 beside the 40 of kept ones: 30 are removed, then 20.
        #expect(gone(rows, Retention(bytes: .most(60))).isEmpty)
        #expect(gone(rows, Retention(bytes: .most(59))).keys.sorted() == [2])
        #expect(gone(rows, Retention(bytes: .most(29))).keys.sorted() == [2, 4])
        // One without any bytes is not removed because of the limit, and a kept one stays regardless of the limit.
        #expect(gone(rows, Retention(bytes: .most(1))).keys.sorted() == [2, 4, 5])
        #expect(gone(rows, Retention(bytes: .most(1_000_000)))[1] == nil)
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatFilesAreCountedAsBytesAre() {
        let rows = rows([1, 2, 3], files: [300, 200, 100])
        #expect(gone(rows, Retention(files: .most(500))) == [1: "more than 500 files"])
    }

    @Test func testThatWhatOneLimitTakesCountsForNoOther() {
        let rows = rows([1, 2, 100], bytes: [50, 40, 30])
        let gone = gone(rows, Retention(age: .most(90 * Self.day), bytes: .most(90)))
        #expect(gone == [1: "older than 90d"])
    }
}
