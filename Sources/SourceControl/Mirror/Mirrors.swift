import Basics
import CLibGit2
import Model
import Synchronization

/// The mirrors under one directory, `repositories/` of the state: one bare repository for each URL.
package final class Mirrors: Sendable {
    let directory: String
    private let limits: NetworkLimits
    private let configuration: GitConfiguration
    private let engine: GitEngine
    private let kept: KeptRepositories
    private let closing = SerialQueue(label: "git.closing")
    /// For the readers of all mirrors: what pages show is small.
    let reading = SerialQueue(label: "git.reading")
    /// One for each mirror, also when it is asked for again with other credentials.
    private let queues = Mutex<[String: (queue: SerialQueue, listCache: RefListCache)]>([:])

    /// - Parameters:
    ///   - directory: Made with what is missing above it when the first mirror is needed.
    ///   - configuration: Where `url.*.insteadOf` is read.
    ///   - engine: Who talks to servers.
    package convenience init(
        directory: String, limits: NetworkLimits = NetworkLimits(), configuration: GitConfiguration = .ofThisAccount,
        engine: GitEngine = .automatic
    ) {
        self.init(
            directory: directory, limits: limits, configuration: configuration, engine: engine, kept: KeptRepositories()
        )
    }

    init(
        directory: String, limits: NetworkLimits, configuration: GitConfiguration, engine: GitEngine,
        kept: KeptRepositories
    ) {
        self.kept = kept
        self.directory = directory
        self.limits = limits
        self.configuration = configuration
        self.engine = engine
    }

    /// Which `git` is used, with its version, for users; nothing: libgit2 alone asks servers.
    /// - Throws: `unreachable` when it cannot be started just now.
    package func program() async throws(SourceControlError) -> String? {
        let engine = engine
        return try await SerialQueue(label: "git.program").run { () throws(SourceControlError) in
            engine == .library ? nil : try GitProgram.installed().map { "git \($0.version), \($0.path)" }
        }
    }

    /// The mirror of a repository. Nothing is made, read or contacted yet.
    package func mirror(of url: RemoteURL, credentials: Credentials? = nil) -> Mirror {
        mirror(of: url, credentials: credentials, kind: .operators)
    }

    /// Closes the mirrors that nobody has used for a while; to be called now and then.
    package func closeUnused() async {
        guard kept.count > 0 else { return }
        await closing.run { [kept] in kept.closeUnused() }
    }

    /// Who names a repository. What anybody may say is kept apart from what the operator names: another bot's private mirror answers no
    /// stranger.
    enum Kind: String {
        case operators = ""
        /// A submodule on the bot's own host, over another way there, which gets no credentials.
        case withoutCredentials = "-open"
        /// A submodule elsewhere: only public addresses are connected to; by libgit2, since only its connections are ours.
        case publicOnly = "-public"
    }

    func mirror(of url: RemoteURL, credentials: Credentials?, kind: Kind) -> Mirror {
        let name = Self.directoryName(of: url) + kind.rawValue
        let (queue, listCache) = queues.withLock { queues in
            let queue = queues[name] ?? (SerialQueue(label: "git." + name), RefListCache())
            queues[name] = queue
            return queue
        }
        var limits = limits
        limits.isPublicOnly = kind == .publicOnly
        let store = MirrorStore(path: "\(directory)/\(name)", name: name)
        return Mirror(
            url: url, credentials: credentials, store: store, queue: queue, limits: limits,
            configuration: configuration,
            engine: kind == .publicOnly ? .library : engine, listCache: listCache, kept: kept)
    }

    /// Readable, and different for different URLs: `kit-0123456789abcdef0123`, with 80 bits of git's own digest of the URL.
    static func directoryName(of url: RemoteURL) -> String {
        var id = git_oid()
        let bytes = Array(url.description.utf8)
        git_odb_hash(&id, bytes, bytes.count, GIT_OBJECT_BLOB)
        return "\(url.name)-\(id.hexadecimal.prefix(20))"
    }
}
