import CLibGit2

/// What libgit2 said about a call that failed.
struct GitFailure: Error {
    let code: Int32
    let errorClass: Int32
    let message: String

    /// Reads the calling thread's last error.
    static func last(_ code: Int32) -> GitFailure {
        guard let error = git_error_last(), let text = error.pointee.message else {
            return GitFailure(code: code, errorClass: 0, message: "libgit2 gave the code \(code) and no reason")
        }
        return GitFailure(code: code, errorClass: error.pointee.klass, message: String(cString: text))
    }

    /// Whether the mirror's own files are to blame, not the network, not the caller, and not who made a commit that libgit2
    /// cannot parse (classes OBJECT, TREE, INVALID: its content is what its id says).
    var isDamage: Bool {
        let classes = [GIT_ERROR_ODB, GIT_ERROR_ZLIB, GIT_ERROR_REFERENCE]
        // A loose object's own frame, before anything of it is held to its id.
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
