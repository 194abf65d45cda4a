import CLibGit2
import Glibc
import Model

/// A conversation with a repository's server, on the queue's thread.
struct RemoteSession {
    let url: RemoteURL
    let credentials: Credentials?
    let configuration: GitConfiguration
    let store: MirrorStore
    let engine: GitEngine
    let listCache: RefListCache
    /// The refs that are listed in addition to branches and tags.
    var others: Set<RefName> = []
    let control: NetworkControl

    /// A ref in the server's list.
    struct AdvertisedRef: Hashable {
        /// The id of the object that the name refers to. For an annotated tag this is the tag's own object.
        let id: String
        /// The commit that an annotated tag points to; `nil` if the server does not state it.
        var peeled: String?
    }

    /// The server's list of refs.
    struct Advertisement {
        /// Branches, tags and `others` whose names are UTF-8.
        var refs: [RefName: AdvertisedRef] = [:]
        var defaultBranch: RefName?
        /// The refs that are included in addition to branches and tags.
        private let others: Set<RefName>

        init(others: Set<RefName> = []) { self.others = others }

        var commits: [RefName: CommitID] {
            refs.compactMapValues { CommitID($0.peeled ?? $0.id) }
        }

        /// Adds a listed ref, if it is a branch, a tag, or one of `others`. Servers list all of their refs, such as three for every pull request, but
        /// only the included ones count toward the limit.
        /// - Parameter name: The name; for an annotated tag's commit it ends with `^{}`. A name that is not UTF-8 is left out, because no page, file
        ///   or environment could show it.
        mutating func add(_ name: some Collection<UInt8>, id: String, limit: Int, _ operation: String)
            throws(SourceControlError)
        {
            let isPeeled = name.suffix(3).elementsEqual("^{}".utf8)
            let isUsual = name.starts(with: "refs/heads/".utf8) || name.starts(with: "refs/tags/".utf8)
            guard isUsual || !others.isEmpty,
                let text = String(validating: isPeeled ? name.dropLast(3) : name[...], as: UTF8.self)
            else { return }
            let ref = RefName(text)
            guard isUsual || others.contains(ref) else { return }
            if isPeeled {
                refs[ref]?.peeled = id
            } else if RemoteSession.isValid(ref) {
                refs[ref] = AdvertisedRef(id: id)
                guard refs.count <= limit else { throw RemoteSession.tooManyRefs(limit, operation) }
            }
        }
    }

    /// A connection to a server that has listed its refs, and from which they can be fetched.
    struct Conversation {
        let list: Advertisement
        /// Whether the list is from this conversation, not one of a moment ago.
        let isListedNow: Bool
        /// The operation, for messages.
        let operation: String
        /// Fetches what refspecs name, and the repository lacks, into its object store. No ref changes.
        let download: (_ refspecs: [String]) throws(SourceControlError) -> Void
    }

    /// Connects, passes the server's list to `body`, and disconnects.
    /// - Parameters:
    ///   - repository: The mirror, which libgit2 needs for receiving objects.
    ///   - isWhole: Whether many objects are expected, as for a first mirror.
    ///   - isAnew: Whether all objects are fetched again, even those that seem to be in the mirror.
    ///   - known: A list of a moment ago. It is used if another list would require a separate connection; `nil` if there is none.
    func run<Value>(
        in repository: OpaquePointer, operation verb: String, isWhole: Bool = false, isAnew: Bool = false,
        known: Advertisement? = nil,
        _ body: (Conversation) throws(SourceControlError) -> Value
    ) throws(SourceControlError) -> Value {
        let operation = "\(verb) \(url)"
        let address = try Self.address(configuration.rewritten(url.description))
        let target = try RemoteURL(address, isInsecureAllowed: true)
        guard let program = try engine.program(for: target, credentials, isWhole: isWhole, operation) else {
            return try runLibrary(in: repository, address, operation, body)
        }
        let place =
            engine == .automatic && target.kind == .path && !isAnew
            ? PathRepository(target.path, operation: operation) : nil
        let (list, isListedNow): (Advertisement, Bool)
        // The list is read again. If a branch was deleted since, its objects still exist.
        if let near = try place?.list(limit: control.limits.refs, others: others) {
            (list, isListedNow) = (near, true)
        } else if let known {
            (list, isListedNow) = (known, false)
        } else {
            (list, isListedNow) = (try self.list(address, by: program, operation), true)
        }
        return try body(
            Conversation(list: list, isListedNow: isListedNow, operation: operation) {
                refspecs throws(SourceControlError) in
                if let place, try copy(refspecs, listed: list.refs, from: place, into: repository, operation) { return }
                try download(refspecs, listed: list.refs, address, isAnew: isAnew, by: program, operation)
            })
    }

    /// Does the same as `run`, by libgit2.
    private func runLibrary<Value>(
        in repository: OpaquePointer, _ address: String, _ operation: String,
        _ body: (Conversation) throws(SourceControlError) -> Value
    ) throws(SourceControlError) -> Value {
        let remote = try GitHandle(operation, free: git_remote_free) { out in
            var options = git_remote_create_options()
            git_remote_create_options_init(&options, UInt32(GIT_REMOTE_CREATE_OPTIONS_VERSION))
            options.repository = repository
            // `insteadOf` has been applied already, from the operator's files alone.
            options.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF.rawValue
            return git_remote_create_with_opts(out, address, &options)
        }
        control.beginConversation()
        do throws(SourceControlError) {
            var options = git_remote_connect_options()
            try git(operation) {
                git_remote_connect_options_init(&options, UInt32(GIT_REMOTE_CONNECT_OPTIONS_VERSION))
            }
            let payload = RemoteCallbacks(credentials: credentials, userInURL: url.user, control: control)
            return try withExtendedLifetime(payload) { () throws(SourceControlError) in
                options.callbacks = payload.callbacks
                // Otherwise libgit2 reads a setting, and leaves its absence as the error of whatever fails next.
                options.follow_redirects = GIT_REMOTE_REDIRECT_NONE
                let connected = remote.pointer
                // Some failures set no error, and an earlier error is not their reason.
                git_error_clear()
                try git(operation) { git_remote_connect_ext(connected, GIT_DIRECTION_FETCH, &options) }
                defer { git_remote_disconnect(connected) }
                let list = try advertisement(of: connected, operation)
                // A list that is too long may have ended before it was stopped.
                if let stop = control.stopped {
                    throw NetworkWatch.error(
                        stop, underlying: Self.unsupported(operation, "the list was stopped at its end"))
                }
                return try body(
                    Conversation(list: list, isListedNow: true, operation: operation) {
                        refspecs throws(SourceControlError) in
                        try download(refspecs, from: connected, operation)
                    })
            }
        } catch {
            throw explained(error, operation: operation, address: address)
        }
    }

    private func download(_ refspecs: [String], from remote: OpaquePointer, _ operation: String)
        throws(SourceControlError)
    {
        control.endList()
        var options = git_fetch_options()
        try git(operation) { git_fetch_options_init(&options, UInt32(GIT_FETCH_OPTIONS_VERSION)) }
        let payload = RemoteCallbacks(credentials: credentials, userInURL: url.user, control: control)
        options.callbacks = payload.callbacks
        options.follow_redirects = GIT_REMOTE_REDIRECT_NONE
        options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_AUTO
        options.update_fetchhead = 0
        try withExtendedLifetime(payload) { () throws(SourceControlError) in
            var strings = refspecs.map { strdup($0) }
            defer { strings.forEach { free($0) } }
            var result: Int32 = 0
            strings.withUnsafeMutableBufferPointer { buffer in
                var array = git_strarray(strings: buffer.baseAddress, count: buffer.count)
                git_error_clear()
                result = git_remote_download(remote, &array, &options)
            }
            try git(operation) { result }
        }
    }

    private func advertisement(of remote: OpaquePointer, _ operation: String) throws(SourceControlError)
        -> Advertisement
    {
        var list: UnsafeMutablePointer<UnsafePointer<git_remote_head>?>?
        var count = 0
        try git(operation) { git_remote_ls(&list, &count, remote) }
        var result = Advertisement(others: others)
        for index in 0..<count {
            guard let head = list?[index]?.pointee, let name = head.name else { continue }
            try result.add(
                UnsafeBufferPointer(start: name, count: strlen(name)).map(UInt8.init(bitPattern:)),
                id: head.oid.hexadecimal, limit: control.limits.refs, operation)
        }
        var buffer = git_buf()
        defer { git_buf_dispose(&buffer) }
        if git_remote_default_branch(&buffer, remote) == 0, let pointer = buffer.ptr {
            let branch = RefName(String(cString: pointer))
            result.defaultBranch = result.refs[branch] == nil ? nil : branch
        }
        return result
    }

    /// Whether git itself would accept the name: no control characters, `..`, `@{`, `.lock` and so on.
    static func isValid(_ ref: RefName) -> Bool {
        var valid: Int32 = 0
        return git_reference_name_is_valid(&valid, ref.description) == 0 && valid == 1
    }

    /// Returns the URL after insteadOf. It is the operator's, too, and must use one of the same protocols.
    private static func address(_ rewritten: String) throws(SourceControlError) -> String {
        if rewritten.hasPrefix("file:///") { return String(rewritten.dropFirst("file://".count)) }
        return try RemoteURL(rewritten, isInsecureAllowed: true).description
    }
}

/// The conversation with a repository on this machine that this process reads itself.
extension RemoteSession {
    /// Copies the commits that refspecs name, with the tags that lead to commits of the mirror, as `git fetch` does.
    /// - Returns: False if git must do it, because commits are named by their ids, everything is wanted, or there are too many objects.
    func copy(
        _ refspecs: [String], listed: [RefName: AdvertisedRef], from place: PathRepository,
        into repository: OpaquePointer,
        _ operation: String
    ) throws(SourceControlError) -> Bool {
        var tips: [git_oid] = []
        for specification in refspecs {
            guard let name = specification.split(separator: ":").last, let ref = listed[RefName(String(name))],
                let id = git_oid(hexadecimal: ref.id)
            else { return false }
            tips.append(id)
        }
        let here = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, repository) }
        // The caller has refreshed it to find out what is missing.
        let pointer = here.pointer
        let tags = listed.values.compactMap { ref -> (tag: git_oid, commit: git_oid)? in
            guard let tag = git_oid(hexadecimal: ref.id), let commit = ref.peeled.flatMap({ git_oid(hexadecimal: $0) })
            else { return nil }
            return (tag, commit)
        }
        do throws(SourceControlError) {
            let source = try place.open()
            let there = try GitHandle(operation, free: git_odb_free) { git_repository_odb($0, source.pointer) }
            var missing = MissingObjects(of: source.pointer, there.pointer, notIn: pointer, operation: operation)
            return missing.fetch(tips, tags: tags, to: store.path + "/objects/pack")
        } catch {
            // git reports problems of the other repository; they are no damage of the mirror.
            return false
        }
    }
}
