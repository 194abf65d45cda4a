import Foundation
import GRDB
import Model

/// A reader of records of tests in one snapshot. Each profile is read once.
final class TestReading {
    private let db: Database
    let zstd: Zstd
    private var profiles: [Int64: TestColumns] = [:]

    init(_ db: Database, _ zstd: Zstd) {
        self.db = db
        self.zstd = zstd
    }

    /// Returns the record of an attempt; `nil` if it ran no test.
    /// - Throws: A refusal with `corrupt` for a damaged record.
    func record(of attempt: Int64) throws -> TestRecord? {
        let found: (profile: Int64?, bytes: [UInt8])? = try db.first(
            "SELECT profile, record FROM test_records WHERE attempt = ?", [attempt]
        ) { (try $0["profile"], try Self.bytes($0)) }
        guard let found else { return nil }
        let profile = try found.profile.map { try self.profile($0) }
        return try undamaged("record of the tests of attempt row \(attempt)") {
            try TestRecord(found.bytes, profile: profile, zstd)
        }
    }

    func columns(of attempt: Int64, durations: Bool, details: Bool) throws -> TestColumns? {
        guard let record = try record(of: attempt) else { return nil }
        return try undamaged("record of the tests of attempt row \(attempt)") {
            try record.columns(durations: durations, details: details, zstd)
        }
    }

    /// Returns one test of an attempt; `nil` if it was not run.
    func test(_ test: Int64, of attempt: Int64) throws -> (outcome: TestResult.Outcome, duration: Duration?)? {
        guard let record = try record(of: attempt) else { return nil }
        return try undamaged("record of the tests of attempt row \(attempt)") {
            try record.test(test, zstd).map { ($0.outcome, $0.duration.duration) }
        }
    }

    /// Returns the message of a skipped test or a known issue that has no row because it is unchanged; `nil` if it has none.
    func message(_ test: Int64, of attempt: Int64) throws -> String? {
        guard let record = try record(of: attempt) else { return nil }
        return try undamaged("record of the tests of attempt row \(attempt)") {
            try record.detail(test, zstd)?.message
        }
    }

    func profile(_ id: Int64) throws -> TestColumns {
        if let known = profiles[id] { return known }
        let bytes = try db.first("SELECT record FROM test_profiles WHERE id = ?", [id]) { try Self.bytes($0) }
        let columns = try undamaged("profile \(id) of tests") {
            guard let bytes else { throw RecordReader.Damaged() }
            return try TestRecord(bytes, profile: nil, zstd).columns(durations: true, details: true, zstd)
        }
        profiles[id] = columns
        return columns
    }

    private static func bytes(_ row: StoredRow) throws -> [UInt8] { [UInt8](try row["record"] as Data) }

    private func undamaged<Value>(_ what: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch is RecordReader.Damaged {
            throw Refusal(
                code: .corrupt,
                message: "the \(what) contains values that Martlet never writes; stop the daemon and restore a backup")
        }
    }
}
