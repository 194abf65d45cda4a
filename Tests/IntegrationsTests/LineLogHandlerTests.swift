import Logging
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

@Suite struct LineLogHandlerTests {
    private let evil = "main\nerror: kit#7 was removed\u{202E}\u{1B}[2J\u{9B}\u{2028}"

    @Test(
        .proves(
            .jobs,
            "Names and messages of others stay on one line and in order in commands' output, the daemon's log and messages"
        ))
    func testThatAnEventIsOneLineWhateverIsInIt() throws {
        // given
        let log = RecordingLogger()
        var logger = Logger(label: "test") { _ in LineLogHandler(log.logger.handler) }
        logger.logLevel = .info
        // when
        logger[metadataKey: "bot"] = "\(evil)"
        logger.info(
            "looked at \(evil)",
            metadata: [
                "ref": "\(evil)", "refs": ["\(evil)"], "deep": ["a": .stringConvertible(Described(description: evil))],
            ])
        logger.debug("not logged")
        // then
        let line = try #require(log.lines.first)
        #expect(log.lines.count == 1)
        #expect(Set(line.metadata.keys) == ["bot", "ref", "refs", "deep"])
        #expect(!line.description.unicodeScalars.contains { $0.isHiddenInText }, "\(line)")
        expectContains(line.message, "main\u{FFFD}error: kit#7 was removed")
    }

    private struct Described: CustomStringConvertible, Sendable { var description: String }
}
