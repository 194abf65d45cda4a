import Model
import SignIn
import Synchronization

/// The messages that actions leave for the page to which they redirect.
///
/// The redirect has a random number of the message, not its text, and only the session that caused the message sees it. A link therefore cannot put
/// an attacker's text on a page. A page that is loaded again shows the message again, so a refresh by script does not lose it.
final class PageMessages: Sendable {
    /// How long a message is shown.
    static let lifetime: Duration = .seconds(600)
    /// The most messages that are kept; beyond them the oldest is dropped.
    static let maximum = 1000
    /// The longest message, in bytes.
    static let maximumBytes = 1000
    /// The query parameter with the message's number.
    static let parameter = "said"

    struct Message: Sendable, Hashable {
        let text: String
        /// Whether the action failed.
        let isBad: Bool
    }

    private struct Entry: Sendable {
        let message: Message
        let csrf: String
        let at: Timestamp
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// Keeps a message for a session.
    /// - Parameter csrf: The token of the session's forms.
    /// - Returns: The message's number: 24 hexadecimal digits.
    func add(_ text: String, isBad: Bool = false, for csrf: String, at now: Timestamp) -> String {
        let number = RandomSecret.hexadecimal(bytes: 12)
        var (cut, rest) = ("", text[...])
        while let character = rest.popFirst(), cut.utf8.count + character.utf8.count <= Self.maximumBytes {
            cut.append(character)
        }
        let entry = Entry(message: Message(text: cut, isBad: isBad), csrf: csrf, at: now)
        state.withLock { state in
            if state.order.count >= Self.maximum { state.entries[state.order.removeFirst()] = nil }
            state.entries[number] = entry
            state.order.append(number)
        }
        return number
    }

    /// Returns a message of this session; `nil` if there is none of that number, or it is too old.
    func message(_ number: String, for csrf: String, at now: Timestamp) -> Message? {
        guard let entry = state.withLock({ $0.entries[number] }), entry.csrf == csrf,
            now - entry.at < Self.lifetime
        else { return nil }
        return entry.message
    }
}
