import Synchronization

/// The servers that refused this service's credentials, or whose certificate or host key it did not trust, when they were used last.
///
/// It is kept in memory. After a restart the next use of a server finds out again.
package final class RefusedAccess: Sendable {
    /// What uses a server. The names of two kinds can be the same.
    package enum Use: Hashable, Sendable {
        /// Scans of a repository, by its URL.
        case scan(String)
        /// Messages to a destination, by its kind and name.
        case messages(String)
        /// Uploads to a place.
        case upload(String)
    }

    private let reasons = Mutex<[Use: String]>([:])
    /// The most servers that are remembered.
    private static let maximum = 1000

    package init() {}

    /// Records how the newest use of a server ended.
    /// - Parameter reason: Why the server was not used; `nil` if the reason is another one, or if it was used.
    package func record(_ reason: String?, by use: Use) {
        reasons.withLock { reasons in
            guard reasons.count < Self.maximum || reasons[use] != nil || reason == nil else { return }
            reasons[use] = reason
        }
    }

    /// Returns why a server was not used; `nil` if credentials and certificates were not the reason.
    package func reason(of use: Use) -> String? { reasons.withLock { $0[use] } }
}
