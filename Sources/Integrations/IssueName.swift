/// How people name an issue: the first digits of its fingerprint.
package enum IssueName {
    /// The fewest digits.
    package static let shortest = 6

    /// The one fingerprint that begins so.
    /// - Parameter others: The fingerprints that there are.
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
