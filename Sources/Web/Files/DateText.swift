import Foundation
import Model
import Synchronization

/// The current time in HTTP's date format, formatted once a second.
final class DateText: Sendable {
    private let made: Mutex<(second: Int64, text: String)> = Mutex((-1, ""))

    var text: String {
        let second = Int64(clamping: Date().timeIntervalSince1970)
        return made.withLock { made in
            if made.second != second { made = (second, HTTPDate.text(second)) }
            return made.text
        }
    }
}
