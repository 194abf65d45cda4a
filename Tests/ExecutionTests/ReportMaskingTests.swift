import Basics
import Execution
import ExecutionSupport
import JobProtocol
import TestSupport
import Testing

/// Secrets in the files that a step leaves for the service.
@Suite(
    .proves(
        .jobs, "Secrets masked in the reports of steps, also as XML escapes them; products stay as they were made (S1)")
)
struct ReportMaskingTests {
    private static let secret = "cAnary/7f3a<9&\"q'z é%w-"

    /// Runs a script that has the secret as `$TOKEN`.
    private func run(
        _ script: String, report: [String], collect: [JobDescription.Collect] = [], in launched: Launched
    ) async throws -> Ended {
        let job = launched.job(script, report: report, collect: collect, secrets: ["TOKEN"])
        return try await launched.run(job, secrets: ["TOKEN": Self.secret])
    }

    private func report(_ end: Ended) throws -> [UInt8] {
        let reports = try end.attempt.reports(ofStep: 0)
        return try end.attempt.read(try #require(reports.first, "\(end.log)"), limit: 1 << 24)
    }

    @Test func testThatASecretInAReportIsMaskedHoweverItIsWritten() async throws {
        try await withLaunched { launched in
            // when
            let end = try await run(
                #"""
                { printf '<testcase name="%s">' "$TOKEN"
                  printf %s "$TOKEN" | base64 | tr -d '\n='; echo
                  printf %s "$TOKEN" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/"/\&quot;/g; s/'"'"'/\&apos;/g'
                  echo '</testcase>'; } >a.xml
                """#, report: ["a.xml"], in: launched)
            // then
            #expect(end.result == .completed, "\(end.log)")
            #expect(String(decoding: try report(end), as: UTF8.self) == "<testcase name=\"***\">***\n***</testcase>\n")
            expectContains(end.log, "martlet: secrets in a.xml were masked\n")
        }
    }

    @Test func testThatASecretIsMaskedWhereItIsCutByTheReadingToo() async throws {
        try await withLaunched { launched in
            // when: across the boundary of the 256 KiB that are read at a time
            let end = try await run(
                "{ head -c 262139 /dev/zero | tr '\\0' x; printf %s \"$TOKEN\"; echo; } >a.xml", report: ["a.xml"],
                in: launched)
            // then
            #expect(try report(end) == [UInt8](repeating: UInt8(ascii: "x"), count: 262_139) + Array("***\n".utf8))
        }
    }

    /// As in a serialized diagnostic or in UTF-16.
    @Test func testThatWhatIsNoTextKeepsItsLength() async throws {
        try await withLaunched { launched in
            // when
            let end = try await run(
                #"{ printf 'DIA\0'; printf %s "$TOKEN"; printf 'a\0'; printf 'c\0A\0n\0a\0r\0y\0/\0007\0f\0003\0a\0'; } >a.dia"#,
                report: ["a.dia"], in: launched)
            // then: the second is only a beginning
            let stars = [UInt8](repeating: UInt8(ascii: "*"), count: Self.secret.utf8.count)
            #expect(
                try report(end) == Array("DIA\0".utf8) + stars
                    + Array("a\0c\0A\0n\0a\0r\0y\0/\u{0}7\0f\u{0}3\0a\0".utf8))
        }
    }

    @Test func testThatAReportWhoseNameHoldsASecretIsNotTaken() async throws {
        try await withLaunched { launched in
            // when
            let job = launched.job("touch $TOKEN.xml a.xml", report: ["*.xml"], secrets: ["TOKEN"])
            let end = try await launched.run(job, secrets: ["TOKEN": "canary-7f3a"])
            // then
            #expect(try end.attempt.reports(ofStep: 0).map(\.path) == ["a.xml"])
            expectContains(end.log, "martlet: ***.xml was not copied: its name holds a secret\n")
        }
    }

    @Test func testThatProductsAreAsTheJobMadeThem() async throws {
        try await withLaunched { launched in
            // when
            let end = try await run(
                "mkdir out; printf %s \"$TOKEN\" >out/tool; cp out/tool a.xml", report: ["a.xml"],
                collect: [.init(patterns: ["out/**"], base: "out")], in: launched)
            // then
            let tool = try Directory(opening: end.attempt.path).read("artifacts/tool", limit: 1 << 10)
            #expect(String(decoding: tool, as: UTF8.self) == Self.secret)
            #expect(String(decoding: try report(end), as: UTF8.self) == "***")
        }
    }

    @Test func testThatTheLimitCountsWhatIsWritten() async throws {
        try await withLaunched { launched in
            // given: a secret that is shorter than its mask
            var job = launched.job("yes q | head -c 400 >a.xml", report: ["a.xml"], secrets: ["TOKEN"])
            job.limits.reportBytes = 500
            // when
            let end = try await launched.run(job, secrets: ["TOKEN": "q"])
            // then: 200 times `***` and a newline
            #expect(end.limit == "reports over 500 bytes", "\(end.log) \(end.events)")
        }
    }
}
