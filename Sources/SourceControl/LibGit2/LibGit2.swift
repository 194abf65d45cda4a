import CLibGit2
import Glibc

/// Starts and configures libgit2 once for this process, before the first call.
enum LibGit2 {
    /// Reading this starts the library. Its value is the first failure, which the caller that needed the library reports.
    static let startFailure: SourceControlError? = {
        do throws(SourceControlError) {
            try git("starting libgit2") { min(git_libgit2_init(), 0) }
            // libgit2 does not synchronize files (GIT_OPT_ENABLE_FSYNC_GITDIR is off by default). A mirror can be fetched again, and is verified
            // after an unclean stop of the machine (`Mirrors.doubt`). No file outside of a mirror configures it: neither attributes nor ignore rules
            // nor settings of the daemon's user. GitConfiguration reads only url.*.insteadOf from those. ~/.ssh/known_hosts is still found by HOME.
            let levels = [
                GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
            ]
            for level in levels {
                try git("setting up libgit2") { clibgit2_set_search_path(Int32(level.rawValue), "") }
            }
            // The service opens its own mirrors, and as remotes the paths that the operator named, never a directory that a job could write. The
            // check would refuse an operator's repository of another owner with a message about safe.directory.
            try git("setting up libgit2") {
                clibgit2_set_option_int(Int32(GIT_OPT_SET_OWNER_VALIDATION.rawValue), 0)
            }
            try git("setting up libgit2") {
                clibgit2_set_option_size(Int32(GIT_OPT_SET_PACK_MAX_OBJECTS.rawValue), NetworkLimits().objects)
            }
            try acceptExtensions()
            try SocketStream.register()
            try HTTPTransport.register()
            return nil
        } catch {
            return error
        }
    }()

    /// Allows working trees whose repositories have extensions that do not matter for reading refs, index and objects (git-config(1), "extensions").
    /// libgit2 1.5 supports none of them.
    private static func acceptExtensions() throws(SourceControlError) {
        let names = ["partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"]
        var copies = names.map { UnsafePointer(strdup($0)) }
        defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
        try git("setting up libgit2") { clibgit2_set_extensions(&copies, copies.count) }
    }

    /// Starts the library. Must be called before any other use of it.
    /// - Throws: The first failure of the start, in every call.
    static func start() throws(SourceControlError) {
        if let failure = startFailure { throw failure }
    }
}

/// Calls libgit2, and turns a negative result into an error with the library's own message.
///
/// The library stores its last error per thread, so it is read here, in the same synchronous function.
/// - Returns: The result of the call, 0 or more.
@discardableResult
func git(_ operation: String, _ call: () -> Int32) throws(SourceControlError) -> Int32 {
    let result = call()
    if result >= 0 { return result }
    throw GitFailure.last(result).error(operation)
}

extension LibGit2 {
    /// The version of the headers that this program was built with.
    static let version = LIBGIT2_VERSION
}

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
        let advice = isDamage ? "; the next fetch repairs the mirror" : ""
        return SourceControlError(code: code, operation: operation, message: message + advice, underlying: self)
    }
}

/// An object of libgit2 that is freed when the handle goes out of scope.
///
/// The handle must be assigned to a variable before its pointer is used. A temporary is freed as soon as its pointer has been read.
struct GitHandle: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// - Parameters:
    ///   - make: A libgit2 call that stores an object.
    ///   - free: The function that frees it.
    init(
        _ operation: String, free: @escaping (OpaquePointer?) -> Void,
        make: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
    ) throws(SourceControlError) {
        var made: OpaquePointer?
        try git(operation) { make(&made) }
        guard let made else {
            throw SourceControlError(code: .other, operation: operation, message: "libgit2 returned no object")
        }
        pointer = made
        self.free = free
    }

    deinit { free(pointer) }
}
