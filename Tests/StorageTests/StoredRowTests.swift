import Foundation
import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// A column has the type that the caller wants, or there is an error that names it.
@Suite struct StoredRowTests {
    /// Reads `value` as each type.
    /// - Returns: The values in the order of `kinds`; `nil` if a value was refused.
    private static func read(_ value: String) async throws -> [String?] {
        try await withStoreValue { store in
            try await store.read("read \(value)") { db in
                try db.first("SELECT \(value) AS x") { row in
                    func read<Value: StoredValue>(_ type: Value.Type) -> String? {
                        (try? row["x"] as Value).map { "\($0)" }
                    }
                    return [
                        read(Int.self), read(Int64.self), read(Bool.self), read(String.self),
                        (try? row["x"] as Data).map { "\($0.count) bytes" }, read(Int?.self), read(String?.self),
                    ]
                } ?? []
            }
        }
    }

    private static func withStoreValue<Value>(_ body: (Store) async throws -> Value) async throws -> Value {
        var result: Value?
        try await withStore { result = try await body($0.store) }
        return try #require(result)
    }

    @Test(
        arguments: [
            ("NULL", [nil, nil, nil, nil, nil, "nil", "nil"]), ("3", ["3", "3", "true", nil, nil, "Optional(3)", nil]),
            ("0", ["0", "0", "false", nil, nil, "Optional(0)", nil]),
            ("'3'", [nil, nil, nil, "3", nil, nil, "Optional(\"3\")"]), ("3.0", [nil, nil, nil, nil, nil, nil, nil]),
            ("x'3300'", [nil, nil, nil, nil, "2 bytes", nil, nil]),
        ] as [(String, [String?])])
    func testThatAValueIsReadAsItsOwnTypeAlone(_ value: String, _ expected: [String?]) async throws {
        #expect(try await Self.read(value) == expected)
    }

    @Test(.proves(.intake, "Rows are read in one checked way: an invalid value is an error that names its column"))
    func testThatTheErrorNamesColumnTableAndRemedy() async throws {
        try await withStore { fixture in
            for query in ["reason", "0"] {
                await expectFailure(
                    .corrupt,
                    "the column reason of integrations, bots holds NULL, which Martlet never writes there; stop the daemon"
                ) {
                    _ = try await fixture.queue()
                    return try await fixture.store.read("ask") { db in
                        try db.first("SELECT reason FROM integrations JOIN bots ON bots.id = bot") { row in
                            query == "0" ? try row[0] as String : try row["reason"] as String
                        }
                    }
                }
            }
            await expectFailure(.statement, "has no column raeson") {
                try await fixture.store.read("ask") { db in
                    try db.first("SELECT reason FROM integrations") { try $0["raeson"] as String? }
                }
            }
            await expectFailure(.statement, "has no column 1") {
                try await fixture.store.read("ask") { db in
                    try db.first("SELECT reason FROM integrations") { try $0[1] as String? }
                }
            }
        }
    }
}
