/// The short name of an issue for users: the first digits of its fingerprint.
package enum IssueName {
    /// The least number of digits.
    package static let shortest = 6

    /// Returns the only fingerprint that begins with these digits.
    /// - Parameter others: All fingerprints.
    /// - Throws: `.invalid` if there are too few digits, `.notFound` if no fingerprint matches, `.conflict` if several match.
    static func resolve(_ digits: String, among others: some Sequence<String>) throws(OperationError) -> String {
        let digits = digits.lowercased()
        guard digits.utf8.count >= shortest else {
            throw OperationError(.invalid, "write at least \(shortest) digits of the issue's fingerprint")
        }
        let found = Set(others.filter { $0.hasPrefix(digits) })
        guard let first = found.first else {
            throw OperationError(.notFound, "there is no issue whose fingerprint begins with \(digits.prefix(64))")
        }
        guard found.count == 1 else {
            throw OperationError(.conflict, "\(found.count) issues begin with \(digits.prefix(64)); write more digits")
        }
        return first
    }
}
