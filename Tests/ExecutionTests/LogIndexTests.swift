import Execution
import JobProtocol
import TestSupport
import Testing

/// The index of a log that is longer than one of its records.
@Suite struct LogIndexTests {
    /// With lines of all lengths, and with the shortest lines.
    @Test(arguments: [
        #"awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%" (i % 150) "s\n", "" }'"#,
        "head -c 200000 /dev/zero | tr '\\0' '\\n'",
    ])
    func testThatEachRecordOfALongLogHasTheNumberOfItsFirstLine(script: String) async throws {
        try await withLaunched { launched in
            // when
            let end = try await launched.run(launched.job(script))
            // then
            let log = try end.attempt.readLog(from: 0, count: AttemptDirectory.logReadLimit)
            let index = try end.attempt.readIndex()
            #expect(log.count > 2 * LogIndexRecord.chunkLimit)
            #expect(index.count > 2)
            for record in index {
                let before = log[..<Int(record.offset)]
                #expect(Int(record.firstLine) == before.count { $0 == 0x0A } + 1, "at \(record.offset)")
                #expect(record.flags.contains(.continuesLine) == (before.last ?? 0x0A != 0x0A))
            }
        }
    }
}
