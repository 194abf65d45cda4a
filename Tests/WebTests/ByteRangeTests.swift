import TestSupport
import Testing

@testable import Web

@Suite struct ByteRangeTests {
    @Test(
        .proves(.web, "The file server honors Range"),
        arguments: [
            ("bytes=0-", ByteRange.part(0..<10)), ("bytes=0-0", .part(0..<1)), ("bytes=2-4", .part(2..<5)),
            ("bytes=9-", .part(9..<10)), ("bytes=5-99", .part(5..<10)), ("bytes=-3", .part(7..<10)),
            ("bytes=-99", .part(0..<10)), ("bytes=0-18446744073709551616", .part(0..<10)),
        ])
    func testThatItServesOneRange(header: String, expected: ByteRange) {
        #expect(ByteRange(header: header, size: 10) == expected)
    }

    /// 2^64, reversed ranges, and ranges outside of the file.
    @Test(arguments: ["bytes=10-", "bytes=99-100", "bytes=-0", "bytes=18446744073709551616-"])
    func testThatItRefusesWhatLiesOutside(header: String) {
        #expect(ByteRange(header: header, size: 10) == .unsatisfiable)
    }

    /// Many and overlapping ranges cost no more than the whole.
    @Test(arguments: [
        "bytes=4-2", "bytes=0-1,4-5", "bytes=0-0,0-0,0-0", "items=0-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=+1-2",
        "bytes=0-1-2", "Bytes", "bytes=" + Array(repeating: "0-", count: 10_000).joined(separator: ","),
    ])
    func testThatItSendsTheWholeForAllElse(header: String) {
        #expect(ByteRange(header: header, size: 10) == .whole)
    }

    @Test func testThatItHasNoRangeInAnEmptyFile() {
        #expect(ByteRange(header: "bytes=0-", size: 0) == .unsatisfiable)
        #expect(ByteRange(header: "bytes=-5", size: 0) == .unsatisfiable)
        #expect(ByteRange(header: nil, size: 0) == .whole)
    }
}
