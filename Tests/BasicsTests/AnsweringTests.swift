import Foundation
import TestSupport
import Testing

/// Threads that answer people go before others, for a moment. In a process of its own, since all of it is changed.
@Suite struct AnsweringTests {
    @Test(.realTime, .program("cc")) func testThatWhoAnswersGoesFirstUntilItHasRunForLong() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            let sources = here.path + "/../../Sources/CLinux"
            let program = directory.path + "/answering"
            try await runExpectingSuccess([
                "cc", "-O1", "-I", sources + "/include", "-o", program, here.path + "/answering.c",
                sources + "/CLinuxAnswering.c",
            ])
            // when
            let result = try await run([program])
            // then
            #expect(
                result.stdout == """
                    unasked: ordinary
                    asked: first
                    child: ordinary
                    its limits: none, no priority
                    after a run: ordinary
                    soon after: ordinary
                    later: first
                    after another run: ordinary

                    """)
            #expect(result.status == 0)
        }
    }
}
