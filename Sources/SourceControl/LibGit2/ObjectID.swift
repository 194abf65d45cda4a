import CLibGit2
import Model

extension git_oid {
    /// Converts a commit id.
    /// - Throws: `invalidRevision` for ids that are not SHA-1: libgit2 1.5 cannot read SHA-256 repositories.
    init(_ commit: CommitID) throws(SourceControlError) {
        self.init()
        guard commit.description.utf8.count == Int(GIT_OID_HEXSZ), git_oid_fromstr(&self, commit.description) == 0
        else {
            throw SourceControlError(
                code: .invalidRevision, operation: "reading \(commit.abbreviated)",
                message: "SHA-256 repositories are not supported by libgit2 \(LIBGIT2_VERSION)")
        }
    }

    /// - Parameter hexadecimal: 40 hexadecimal digits. The result is `nil` for any other text.
    init?(hexadecimal: String) {
        self.init()
        guard hexadecimal.utf8.count == Int(GIT_OID_HEXSZ), git_oid_fromstr(&self, hexadecimal) == 0 else { return nil }
    }

    /// 40 hexadecimal digits.
    var hexadecimal: String {
        var copy = self
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(GIT_OID_HEXSZ) + 1) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            git_oid_tostr(start, buffer.count, &copy)
            return String(cString: start)
        }
    }

    /// The id as the project's own type; `nil` only if libgit2 wrote no id.
    var commitID: CommitID? { CommitID(hexadecimal) }

    var bytes: [UInt8] { withUnsafeBytes(of: id) { Array($0) } }
}

/// The 20 bytes of an id, in a compact form for large collections.
struct ObjectKey: Hashable {
    private let (first, second, third): (UInt64, UInt64, UInt32)

    init(_ id: git_oid) { self = withUnsafeBytes(of: id.id) { ObjectKey(loading: $0) } }

    /// - Parameter bytes: 20 bytes. The result is `nil` for any other number.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == Int(GIT_OID_RAWSZ) else { return nil }
        self = bytes.withUnsafeBytes { ObjectKey(loading: $0) }
    }

    private init(loading bytes: UnsafeRawBufferPointer) {
        first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        third = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeBytes(of: first) { body($0) }
        withUnsafeBytes(of: second) { body($0) }
        withUnsafeBytes(of: third) { body($0) }
    }

    var id: git_oid {
        var result = git_oid()
        withUnsafeMutableBytes(of: &result.id) { bytes in
            bytes.storeBytes(of: first, as: UInt64.self)
            bytes.storeBytes(of: second, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: third, toByteOffset: 16, as: UInt32.self)
        }
        return result
    }
}
