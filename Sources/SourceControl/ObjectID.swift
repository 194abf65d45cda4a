import CLibGit2
import Model

extension git_oid {
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

    /// - Parameter hexadecimal: 40 digits; nothing for anything else.
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

    /// The id as the project's own value; nothing only if libgit2 wrote no id.
    var commitID: CommitID? { CommitID(hexadecimal) }

    var bytes: [UInt8] { withUnsafeBytes(of: id) { Array($0) } }
}
