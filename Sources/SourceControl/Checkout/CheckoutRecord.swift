import Basics
import CLibGit2

/// The files that the last checkout of a workspace wrote, with the result of stat(2) for each at that time. It serves as an index outside of the
/// workspace.
///
/// A file whose status still equals the recorded one has not been changed since. No program can set back the time of the inode's last change (ctime).
struct CheckoutRecord: Equatable {
    struct Entry: Equatable {
        let kind: TreeListing.Kind
        let id: ObjectKey
        let size: Int64
        let modified: Int64
        let changed: Int64
        let inode: UInt64
        let device: UInt64

        func matches(_ status: FileStatus) -> Bool {
            size == status.size && modified == status.modified && changed == status.changed && inode == status.inode
                && device == status.device && status.links == 1
        }
    }

    static let magic = Array("martlet checkout 2\n".utf8)
    /// The largest size of a record in bytes, for 5,000,000 entries with paths of 100 bytes.
    static let maximumSize = 1 << 30

    /// The size of an entry without its path, in bytes.
    private static let entrySize = 69

    /// The digest of the rules and attributes with which the files were written. Others may turn the same blob into other bytes.
    var attributes: [UInt8] = []
    /// The id of the commit that was checked out, in hexadecimal digits.
    var commit = ""
    var entries: [[UInt8]: Entry] = [:]

    init() {}

    /// Reads what `bytes` wrote; `nil` if it is no record, or incomplete.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.magic) else { return nil }
        var position = Self.magic.count
        func number() -> UInt64? {
            guard position + 8 <= bytes.count else { return nil }
            defer { position += 8 }
            return bytes.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            }
        }
        func run(_ count: UInt64?) -> ArraySlice<UInt8>? {
            guard let count, count <= UInt64(bytes.count - position) else { return nil }
            defer { position += Int(count) }
            return bytes[position..<position + Int(count)]
        }
        guard let attributes = run(20), let commit = run(number()), let count = number() else { return nil }
        self.attributes = Array(attributes)
        self.commit = String(decoding: commit, as: UTF8.self)
        // The count may be wrong, so no more are reserved than the size allows.
        entries.reserveCapacity(Int(min(count, UInt64(bytes.count / Self.entrySize))))
        for _ in 0..<count {
            guard let path = run(number()), let kind = run(1)?.first.flatMap({ TreeListing.Kind(rawValue: $0) }),
                let id = run(20).flatMap({ ObjectKey($0) }), let size = number(), let modified = number(),
                let changed = number(),
                let inode = number(), let device = number()
            else { return nil }
            entries[Array(path)] = Entry(
                kind: kind, id: id, size: Int64(bitPattern: size), modified: Int64(bitPattern: modified),
                changed: Int64(bitPattern: changed), inode: inode, device: device)
        }
        guard position == bytes.count else { return nil }
    }

    var bytes: [UInt8] {
        var result = Self.magic
        result.reserveCapacity(entries.count * (Self.entrySize + 40))
        func append(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { result += $0 } }
        result += attributes.count == 20 ? attributes : [UInt8](repeating: 0, count: 20)
        append(UInt64(commit.utf8.count))
        result += commit.utf8
        append(UInt64(entries.count))
        for (path, entry) in entries {
            append(UInt64(path.count))
            result += path
            result.append(entry.kind.rawValue)
            entry.id.withBytes { result += $0 }
            append(UInt64(bitPattern: entry.size))
            append(UInt64(bitPattern: entry.modified))
            append(UInt64(bitPattern: entry.changed))
            append(entry.inode)
            append(entry.device)
        }
        return result
    }
}

extension CheckoutRecord.Entry {
    /// Creates an entry for a file whose status on the disk does not matter.
    init(_ entry: TreeListing.Entry, size: Int64) {
        kind = entry.kind
        id = ObjectKey(entry.id)
        (self.size, modified, changed, inode, device) = (size, 0, 0, 0, 0)
    }

    init(_ entry: TreeListing.Entry, _ status: FileStatus) {
        kind = entry.kind
        id = ObjectKey(entry.id)
        size = status.size
        modified = status.modified
        changed = status.changed
        inode = status.inode
        device = status.device
    }
}
