import CLibGit2

/// The error of a failed call of libgit2.
struct GitFailure: Error {
    let code: Int32
    let errorClass: Int32
    let message: String

    /// Returns the calling thread's last error.
    static func last(_ code: Int32) -> GitFailure {
        guard let error = git_error_last(), let text = error.pointee.message else {
            return GitFailure(code: code, errorClass: 0, message: "libgit2 gave the code \(code) and no reason")
        }
        return GitFailure(code: code, errorClass: error.pointee.klass, message: String(cString: text))
    }

    /// Whether the mirror's own files are damaged. False for failures of the network or the caller, and for a commit that libgit2 cannot parse
    /// (classes OBJECT, TREE, INVALID): its content matches its id.
    var isDamage: Bool {
        let classes = [GIT_ERROR_ODB, GIT_ERROR_ZLIB, GIT_ERROR_REFERENCE]
        // This is about the header of a loose object, which libgit2 reads before it checks the object's id.
        if errorClass == Int32(GIT_ERROR_OBJECT.rawValue), message.contains("loose object") { return true }
        return classes.contains { Int32($0.rawValue) == errorClass } && code != GIT_ENOTFOUND.rawValue
    }

    func error(_ operation: String) -> SourceControlError {
        let parsing = [GIT_ERROR_OBJECT, GIT_ERROR_TREE].map { Int32($0.rawValue) }
        let code: SourceControlError.Code =
            isDamage ? .mirrorDamaged : parsing.contains(errorClass) ? .treeRefused : .other
        let advice = isDamage ? "; the next fetch mends the mirror" : ""
        return SourceControlError(code: code, operation: operation, message: message + advice, underlying: self)
    }
}
