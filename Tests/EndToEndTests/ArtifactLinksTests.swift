import Basics
import Foundation
import TestSupport
import Testing

/// The archive of an integration, downloaded by the links that users get.
@Suite(.program("curl")) struct ArtifactLinksTests {
    private static let files = [
        "Makefile": "all:\n\t@seq 1 20000 >numbers.txt\ncheck:\n\t@true\n",
        ".martlet.yml": "archive: { include: [numbers.txt] }\n",
    ]

    private func digest(_ path: String) async throws -> String {
        String(try await runExpectingSuccess(["sha256sum", path]).prefix(64))
    }

    @Test(.proves(.web, "An integration's page links artifacts, which are served with Range and HEAD"))
    func testThatTheLinksOfThePageAndOfTheToolGiveTheBytes() async throws {
        try await withDaemon { daemon in
            // given
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            let green = try await daemon.martlet("integrate", "kit", "--wait")
            #expect(green.status == 0, "\(green.stdout)\(green.stderr)")
            let page = try await daemon.get("/bots/kit/1").body
            let rows = try await daemon.output("artifacts", "kit#1").split(separator: "\n").dropFirst().map {
                $0.split(separator: " ").map(String.init)
            }
            #expect(rows.count == 2)

            for row in rows {
                // when
                let (sum, size, link) = (row[0], row[1], row[3])
                let whole = daemon.directory.path("whole")
                let parts = daemon.directory.path("parts")
                try await runExpectingSuccess(TestTools.curl + ["-f", "-o", whole, link])
                let first = try await run(TestTools.curl + ["-f", "-r", "0-99", "-o", parts, link])
                // The rest, as a client continues an interrupted download.
                let rest = try await run(TestTools.curl + ["-f", "-C", "-", "-o", parts, link])
                let head = try await run(TestTools.curl + ["-f", "-I", link]).stdout.lowercased()

                // then
                #expect(try await digest(whole) == sum)
                #expect(first.status == 0 && rest.status == 0, "\(first.stderr)\(rest.stderr)")
                #expect(try await digest(parts) == sum)
                expectContains(head, "http/1.1 200")
                expectContains(head, "content-length: \(size)")
                expectContains(page, "href=\"\(link.dropFirst(daemon.url.count))\"")
                expectContains(page, sum)
            }
        }
    }
}
