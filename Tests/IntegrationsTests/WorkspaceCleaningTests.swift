import Basics
import BotSupport
import Execution
import Foundation
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Jobs

@Suite(.proves(.sourceControl, "`clean: never, always, daily, weekly`"))
struct WorkspaceCleaningTests {
    private static let now = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)
    private static let day = 86_400

    @Test(arguments: [
        (BotSpecification.Clean.never, nil, false), (.never, 400 * day, false), (.always, 0, true),
        (.always, nil, true),
        (.daily, nil, true), (.daily, 0, false), (.daily, day - 1, false), (.daily, day, true), (.daily, day + 1, true),
        (.weekly, nil, true), (.weekly, day, false), (.weekly, 7 * day - 1, false), (.weekly, 7 * day, true),
        // The clock was set back since.
        (.daily, -1, true), (.weekly, -400 * day, true), (.never, -1, false),
    ])
    func testThatItIsDueWhenItsIntervalIsOver(clean: BotSpecification.Clean, secondsAgo: Int?, isDue: Bool) {
        let cleaned = secondsAgo.map { Self.now + .seconds(-$0) }
        #expect(clean.isDue(cleaned: cleaned, now: Self.now) == isDue)
    }

    @Test(arguments: [("daily", 1), ("weekly", 7)])
    func testThatAWorkspaceIsEmptiedOnceInItsInterval(word: String, days: Int) async throws {
        try await withBot(configurations: ["debug"], file: "clean: \(word)\n") { bot in
            // given: whether an ignored file of the earlier build is still there
            func integrate() async throws -> Bool {
                expectResult(of: try await bot.integrate(Commit(files: ["n": bot.identifiers.next()])), "succeeded")
                let left = Workspace(path: "\(bot.state.workspaces)/kit/debug/trusted/0").tree + "/build/left"
                let isThere = FileManager.default.fileExists(atPath: left)
                try FileManager.default.createDirectory(
                    atPath: (left as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data().write(to: URL(fileURLWithPath: left))
                return isThere
            }
            var kept = [try await integrate()]

            // when: at once, a minute before it is due, when it is due, and at once again
            kept.append(try await integrate())
            bot.time.advance(by: .seconds(days * Self.day - 60))
            kept.append(try await integrate())
            bot.time.advance(by: .seconds(60))
            kept.append(try await integrate())
            kept.append(try await integrate())

            // then
            #expect(kept == [false, true, true, false, true])
        }
    }
}
