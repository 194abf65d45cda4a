import Model

/// Tests of an attempt in the order of their ids, each name once.
struct NamedTests: Sendable {
    /// What a test is called: the key of `test_names`.
    struct Key: Hashable, Sendable {
        var suite: String
        var name: String
    }

    private(set) var tests: [(id: Int64, result: TestResult)] = []

    /// - Parameters:
    ///   - results: What `distinct(_:)` made.
    ///   - id: Of a test's name; asked once for each test, in their order.
    init(_ results: [TestResult], id: (Key) throws -> Int64) rethrows {
        tests = try results.map { (id: try id($0.key), result: $0) }
        tests.sort { $0.id < $1.id }
    }

    /// Texts cut to what is kept. A name that comes again, as it does when two steps run the same tests, gets a number, so
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
    /// The results with the tests' names as they are stored: cut, and each once. Done again it changes nothing.
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
    /// In the branch's integration before.
    var before: TestResult.Outcome?
}

/// The tests of an attempt as they are written: rows, the record, and the profile that it makes, if it makes one.
struct EncodedTests: Sendable {
    /// A profile, as it is read.
    struct Profile {
        var id: Int64
        var columns: TestColumns
    }

    let record: [UInt8]
    let rows: [TestRow]
    /// To be stored before the record, which is written against it.
    let newProfile: [UInt8]?
    /// The one that is there already, which the record is written against.
    let profile: Int64?

    /// - Parameters:
    ///   - before: The outcomes in the branch's integration before; nothing when there is none.
    ///   - profile: What may be written against.
    ///   - makesProfile: Whether a profile is made where that one does not fit.
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

    /// Whether most of the tests are the profile's.
    private static func fits(_ columns: TestColumns, _ profile: TestColumns) -> Bool {
        var (common, next) = (0, 0)
        for id in columns.ids {
            while next < profile.ids.count, profile.ids[next] < id { next += 1 }
            if next < profile.ids.count, profile.ids[next] == id { common += 1 }
        }
        return common * 4 >= max(columns.ids.count, profile.ids.count) * 3
    }
}
