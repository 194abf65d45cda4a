import Model
import Synchronization

/// Tests of an attempt in the order of their ids. Each name occurs once.
struct NamedTests: Sendable {
    /// The suite and name of a test: the key of `test_names`.
    struct Key: Hashable, Sendable {
        var suite: String
        var name: String
    }

    private(set) var tests: [(id: Int64, result: TestResult)] = []

    /// - Parameters:
    ///   - results: The result of `distinct(_:)`.
    ///   - id: Returns the id of a test's name. It is called once for each test, in their order.
    init(_ results: [TestResult], id: (Key) throws -> Int64) rethrows {
        tests = try results.map { (id: try id($0.key), result: $0) }
        tests.sort { $0.id < $1.id }
    }

    /// Returns the results with their texts cut to what is stored. If a name occurs again, as when two steps run the same tests, it gets a number, so
    /// that no result is lost.
    static func distinct(_ results: [TestResult]) -> [TestResult] {
        var seen: Set<Key> = []
        seen.reserveCapacity(results.count)
        var numbers: [Key: Int] = [:]
        return results.map { result in
            var result = result
            (result.suite, result.name) = (result.suite.kept, result.name.kept)
            result.message = result.message?.kept(Finding.maximumMessageBytes)
            result.path = result.path?.kept
            result.duration = result.duration.map { .microseconds($0.microseconds) }
            let key = result.key
            while !seen.insert(result.key).inserted {
                numbers[key, default: 1] += 1
                result.name = "\(key.name) (\(numbers[key, default: 2]))"
            }
            return result
        }
    }
}

extension AttemptResults {
    /// Returns the results with the tests' names as they are stored: cut, and each once. A second call changes no name.
    package func namingEachTestOnce() -> AttemptResults {
        var results = self
        results.tests = NamedTests.distinct(tests)
        return results
    }
}

extension TestResult {
    var key: NamedTests.Key { NamedTests.Key(suite: suite, name: name) }
}

/// A test's result that has a row of its own.
struct TestRow: Sendable {
    var test: Int64
    var result: TestResult
    /// The outcome in the branch's previous integration; `nil` if it did not run there, or there is none.
    var before: TestResult.Outcome?
}

/// The encoded tests of an attempt: the rows, the record, and the new profile if one is made.
struct EncodedTests: Sendable {
    /// A stored profile.
    struct Profile {
        var id: Int64
        var columns: TestColumns
    }

    let record: [UInt8]
    let rows: [TestRow]
    /// The profile to store before the record, which is encoded against it; `nil` if no profile is made.
    let newProfile: [UInt8]?
    /// The row of the existing profile against which the record is encoded; `nil` if there is none.
    let profile: Int64?

    /// - Parameters:
    ///   - before: The tests of the branch's previous integration; `nil` if there is none.
    ///   - profile: The profile against which the tests may be encoded.
    ///   - makesProfile: Whether to make a new profile if `profile` does not fit.
    init(
        _ named: NamedTests, before: TestColumns?, profile: Profile?, makesProfile: Bool, _ zstd: Zstd
    ) throws {
        var columns = TestColumns()
        var (own, rows, room): (Set<Int>, [TestRow], Int) = ([], [], TestRecord.maximumDetailsBytes)
        for (place, test) in named.tests.enumerated() {
            let result = test.result
            columns.ids.append(test.id)
            columns.outcomes.append(result.outcome)
            columns.durations.append(DurationCode(result.duration))
            let earlier = before.flatMap { before in before.place(of: test.id).map { before.outcomes[$0] } }
            let hasChanged = before != nil && earlier != result.outcome
            let bytes = (result.message?.utf8.count ?? 0) + (result.path?.utf8.count ?? 0)
            let hasRow =
                result.outcome.isFailure || result.outcome == .flaky || hasChanged
                || bytes > TestRecord.maximumDetailBytes || bytes > room
                || !(0..<Int(Int32.max)).contains(result.line ?? 0)
            if hasRow {
                own.insert(place)
                rows.append(TestRow(test: test.id, result: result, before: earlier))
            } else if bytes > 0 || result.line != nil {
                room -= bytes
                columns.details[place] = .init(message: result.message, path: result.path, line: result.line)
            }
        }
        self.rows = rows
        if let profile, Self.fits(columns, profile.columns) {
            record = try TestRecord.bytes(of: columns, against: profile.columns, own: own, zstd)
            (newProfile, self.profile) = (nil, profile.id)
        } else if makesProfile {
            newProfile = try TestRecord.bytes(of: columns, against: nil, own: own, zstd)
            record = try TestRecord.bytes(of: columns, against: columns, own: own, zstd)
            self.profile = nil
        } else {
            record = try TestRecord.bytes(of: columns, against: nil, own: own, zstd)
            (newProfile, self.profile) = (nil, nil)
        }
    }

    /// Returns whether at least three quarters of the tests are the same as the profile's.
    private static func fits(_ columns: TestColumns, _ profile: TestColumns) -> Bool {
        var (common, next) = (0, 0)
        for id in columns.ids {
            while next < profile.ids.count, profile.ids[next] < id { next += 1 }
            if next < profile.ids.count, profile.ids[next] == id { common += 1 }
        }
        return common * 4 >= max(columns.ids.count, profile.ids.count) * 3
    }
}

/// A cache of test names' ids. An integration's configurations run the same tests, and so does the next integration. Looking up 20,000 names takes
/// 0.1 s per attempt.
final class TestNameCache: Sendable {
    /// The most names of all bots. The cache is emptied when it would exceed this. 100,000 names take about 150 bytes each, or more if they are
    /// longer.
    static let maximumNames = 100_000
    /// The most bytes of all names together.
    static let maximumBytes = 32 << 20

    private struct Content {
        var bots: [Int64: [NamedTests.Key: Int64]] = [:]
        var count = 0
        var bytes = 0
    }

    private let content = Mutex(Content())

    /// Returns the cached ids of a bot's tests.
    func ids(of bot: Int64) -> [NamedTests.Key: Int64] { content.withLock { $0.bots[bot] ?? [:] } }

    /// Caches names whose rows are on disk.
    func remember(_ ids: [NamedTests.Key: Int64], of bot: Int64) {
        content.withLock { content in
            let bytes = ids.keys.reduce(0) { $0 + $1.suite.utf8.count + $1.name.utf8.count }
            if content.count + ids.count > Self.maximumNames || content.bytes + bytes > Self.maximumBytes {
                content = Content()
            }
            guard ids.count <= Self.maximumNames, bytes <= Self.maximumBytes else { return }
            content.bytes += bytes
            let before = content.bots[bot]?.count ?? 0
            content.bots[bot, default: [:]].merge(ids) { $1 }
            content.count += (content.bots[bot]?.count ?? 0) - before
        }
    }
}
