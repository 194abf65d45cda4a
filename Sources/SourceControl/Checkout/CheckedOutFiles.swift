/// The files and links that a checkout has written, or left as they were because they equal the commit's.
package struct CheckedOutFiles: Sendable {
    private let entries: [[UInt8]: CheckoutRecord.Entry]

    init(_ record: CheckoutRecord) { entries = record.entries }

    /// Whether a path, relative to the root, is one of them.
    package func contains(_ path: [UInt8]) -> Bool { entries[path] != nil }

    /// The paths relative to the root, including those of submodules, in no particular order.
    package var paths: some Collection<[UInt8]> { entries.keys }
}
