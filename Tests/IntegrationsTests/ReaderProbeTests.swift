import BotSupport
import Execution
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

/// The report of `martlet-reader` about the machine, before it reads anything.
@Suite struct ReaderProbeTests {
    @Test func testThatTheReadersSystemCallsAreFiltered() throws {
        #expect(try ReaderProbe.isFiltered(try ReaderProgram.built()))
    }

    /// Runs a program in the reader's place.
    private func probe(_ script: String) async throws -> Bool {
        try await withTemporaryDirectory { directory in
            try directory.write("reader", "#!/bin/sh\n" + script + "\n", mode: 0o755)
            return try ReaderProbe.isFiltered(ReaderProgram(path: directory.path("reader")))
        }
    }

    @Test func testThatAReaderWithoutAFilterSaysSo() async throws {
        // given: its answer, and its exit
        let script = "printf '\\004\\000\\000\\000\\000\\003\\000\\000\\000\\000'"
        // when, then
        #expect(try await !probe(script))
    }

    @Test(arguments: [
        ("echo why >&2; exit 3", "the reader ended with exit status 3: why"),
        ("printf '\\011\\000\\000\\000\\000'", "the reader's answer is invalid: an unknown record"),
    ])
    func testThatAReaderThatDoesNotAnswerIsAnError(script: String, reason: String) async throws {
        let error = await #expect(throws: ExecutionError.self) { _ = try await probe(script) }
        #expect(error?.message == reason)
    }
}
