/// The files and links that a checkout has written, or left because they equal the commit's.
package struct CheckedOutFiles: Sendable {
    private let entries: [[UInt8]: CheckoutRecord.Entry]

    init(_ record: CheckoutRecord) { entries = record.entries }

    /// Whether a path from the root is one of them.
    package func contains(_ path: [UInt8]) -> Bool { entries[path] != nil }

    /// Their paths from the root, submodules' included, in no particular order.
    package var paths: some Collection<[UInt8]> { entries.keys }
}
