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
