import Glibc
import Integrations
import Logging
import Settings
import TestSupport
import Testing
import martlet

@Suite struct JournalLogHandlerTests {
    /// Reads a datagram in journald's form: name, line feed, length as 64 bits little-endian, value, line feed.
    private static func fields(_ bytes: [UInt8]) throws -> [(String, String)] {
        var (fields, rest): ([(String, String)], ArraySlice<UInt8>) = ([], bytes[...])
        while !rest.isEmpty {
            let name = rest.prefix { $0 != 0x0A }
            rest = rest.dropFirst(name.count + 1)
            let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            fields.append((String(decoding: name, as: UTF8.self), String(decoding: rest.prefix(count), as: UTF8.self)))
            rest = rest.dropFirst(count)
            try #require(rest.first == 0x0A)
            rest = rest.dropFirst()
        }
        return fields
    }

    @Test(
        .proves(
            .operating, "In the journal a line begins with the message, and has its priority and a field for each value"
        ))
    func testThatALineBeginsWithItsMessageAndHasFields() throws {
        // given
        let sent = Locked<[[UInt8]]>([])
        let logger = Logger(label: "x") { _ in
            LineLogHandler(
                JournalLogHandler { bytes in
                    sent.withLock { $0.append(bytes) }
                    return true
                }, control: LogControl())
        }
        // when
        logger.warning("a scan failed", metadata: ["repository": "/srv/a\nb.git", "last-error": "no route"])
        // then
        let bytes = try #require(sent.value.first)
        let fields = try Self.fields(bytes)
        #expect(
            fields.map(\.0) == ["MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "MARTLET_LAST_ERROR", "MARTLET_REPOSITORY"])
        #expect(fields[0].1 == "a scan failed (last-error: no route; repository: /srv/a\u{FFFD}b.git)")
        #expect(fields[1].1 == "4" && fields[2].1 == "martlet")
        #expect(fields[3].1 == "no route")
    }

    @Test(.proves(.badInput, "A log line has at most 16 values of 8 KiB in the journal"))
    func testThatAHugeLineIsBounded() throws {
        // when
        let values = Dictionary(
            uniqueKeysWithValues: (0..<100).map { ("k\($0)", String(repeating: "x", count: 100_000)) })
        let bytes = JournalLogHandler.datagram(.error, "m", values)
        // then
        #expect(try Self.fields(bytes).count == 3 + 16)
        #expect(bytes.count < 200 << 10)
    }

    @Test(.proves(.operating, "The log level and the request log change at run time, by a reload of the settings"))
    func testThatTheLevelChangesAtRunTime() {
        // given
        let sent = Locked(0)
        let control = LogControl()
        let logger = Logger(label: "x") { _ in
            LineLogHandler(
                JournalLogHandler { _ in
                    sent.withLock { $0 += 1 }
                    return true
                }, control: control)
        }
        logger.debug("a")
        #expect(sent.value == 0)
        // when
        control.set(LogSettings(level: .debug))
        logger.debug("a")
        // then
        #expect(sent.value == 1)
        control.set(LogSettings(level: .error))
        logger.warning("a")
        #expect(sent.value == 1)
    }

    @Test func testThatItIsUsedOnlyWhereStandardErrorIsTheJournals() throws {
        // given
        var status = stat()
        try #require(fstat(STDERR_FILENO, &status) == 0)
        // then
        #expect(JournalLogHandler.isConnected("\(status.st_dev):\(status.st_ino)"))
        #expect(!JournalLogHandler.isConnected("\(status.st_dev):\(status.st_ino + 1)"))
        #expect(!JournalLogHandler.isConnected(nil))
    }
}
