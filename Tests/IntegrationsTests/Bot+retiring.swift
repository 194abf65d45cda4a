import Basics
import BotSupport
import Storage
import TestSupport

extension Bot {
    /// Moves the bot's file away, and waits until the bot is retired.
    func retire() async throws {
        try Directory(opening: directory.path("bots")).remove("\(name).yml")
        timer.advance(by: .seconds(2))
        try await wait("the bot without a file") { store in
            try await store.bot(self.name)?.isRetired == true ? true : nil
        }
    }
}
