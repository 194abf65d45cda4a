package import Model

/// The contents of `martlet.yml`, with every default filled in.
package struct ServiceSettings: Hashable, Sendable {
    /// Whether anonymous users may read.
    package enum Anonymous: String, Hashable, Sendable, CaseIterable { case read, none }

    /// The separation of jobs from the machine.
    package enum Isolation: String, Hashable, Sendable, CaseIterable { case sandbox, none }

    /// The addresses to listen on; never empty.
    package var listen: [ListenAddress]
    /// The address at which clients reach the service, without a trailing slash; `nil` if it is derived from `listen`.
    package var url: String?
    /// The IP addresses of the reverse proxies whose `X-Forwarded-For` is trusted.
    package var proxies: [String]
    /// Further host names of the service, in lower case, which a proxy or a health check sends as `Host`.
    package var hosts: [String] = []
    /// The absolute path of the state directory.
    package var state: String
    /// The absolute path of the directory of bot files; `triggers/` is beside it.
    package var bots: String
    /// The most jobs that run at one time.
    package var concurrency: Int
    /// The absolute path of the directory of secrets; `nil`: only systemd credentials are read.
    package var secrets: String?
    package var anonymous: Anonymous
    /// The separation; `nil`: `sandbox` if it works, otherwise `none`, which is reported with the reason.
    package var isolation: Isolation?
    package var sandbox: SandboxSettings
    /// The absolute path of the directory whose subdirectories recipes may name as `image`; `nil`: recipes may name none.
    package var images: String?
    /// The user that `serve` changes to when it is started as root.
    package var user: String?
    /// The mail server; `nil`: no mail is sent.
    package var mail: MailSettings?
    /// The collector of traces; `nil`: none are sent.
    package var traces: TraceSettings?
    /// The absolute path of a file or directory with the certificates that every outgoing connection trusts in place of the machine's; `nil`: those
    /// of the environment (SSL_CERT_FILE, SSL_CERT_DIR), or else the machine's.
    package var certificates: String?
    /// The name of the secret with the key that signs versions; `nil`: they are not signed.
    package var signing: String?
    /// The ways to sign in with a browser besides a token.
    package var signIn = SignInSettings()
    /// The executors in their order; `local` is one of them.
    package var executors = [ExecutorSettings(name: ExecutorSettings.local)]
    /// The executor that is taken before the others if it fits; `nil`: the first that fits.
    package var defaultExecutor: Name?
    /// The limits for keeping each bot's integrations, unless its file has its own.
    package var retention: Retention
    /// Who hears of troubles of the service; `nil`: nobody.
    package var operators: OperatorSettings?
    /// How long the audit keeps a row.
    package var auditAge = AuditEntry.usualAge
    package var log = LogSettings()
    /// The limits for caches and for bots without a file.
    package var caches = CacheLimits()

    package init(
        listen: [ListenAddress] = [ListenAddress(host: "127.0.0.1", port: 8080)], url: String? = nil, state: String,
        bots: String, concurrency: Int, secrets: String? = nil, anonymous: Anonymous = .read,
        isolation: Isolation? = nil, sandbox: SandboxSettings = SandboxSettings(), images: String? = nil,
        user: String? = nil,
        mail: MailSettings? = nil, signing: String? = nil, retention: Retention = Retention(), proxies: [String] = []
    ) {
        self.proxies = proxies
        self.listen = listen
        self.url = url
        self.state = state
        self.bots = bots
        self.concurrency = concurrency
        self.secrets = secrets
        self.anonymous = anonymous
        self.isolation = isolation
        self.sandbox = sandbox
        self.images = images
        self.user = user
        self.mail = mail
        self.signing = signing
        self.retention = retention
    }

    /// The directory of the operator's trigger scripts: `triggers/` beside the directory of bot files.
    package var triggers: String { FilePath.join(FilePath.parent(of: bots), "triggers") }

    /// The values of the keys that a settings file leaves out.
    package struct Defaults: Hashable, Sendable {
        /// The path of the settings file, even if it does not exist.
        package var file: String
        package var state: String
        package var bots: String
        package var secrets: String?
        package var concurrency: Int
        package var user: String?

        package init(
            file: String, state: String, bots: String, secrets: String?, concurrency: Int, user: String? = nil
        ) {
            self.file = file
            self.state = state
            self.bots = bots
            self.secrets = secrets
            self.concurrency = concurrency
            self.user = user
        }

        /// Returns the defaults of an installation for the whole machine: `/etc/martlet` and `/var/lib/martlet`.
        /// - Parameter processors: The number of the machine's processors. A job uses several, so half as many jobs run at one time.
        package static func system(processors: Int) -> Defaults {
            Defaults(
                file: "/etc/martlet/martlet.yml", state: "/var/lib/martlet", bots: "/etc/martlet/bots",
                secrets: "/etc/martlet/secrets", concurrency: max(1, processors / 2), user: "martlet")
        }

        /// Returns the defaults for one user, by the XDG base directory specification 0.8: `$XDG_CONFIG_HOME/martlet` and `$XDG_STATE_HOME/martlet`.
        /// Their own defaults are `~/.config` and `~/.local/state`. A relative value is ignored, as the specification requires. `nil` if `HOME` is
        /// needed and not set.
        package static func user(environment: [String: String], processors: Int) -> Defaults? {
            func base(_ variable: String, _ fallback: String) -> String? {
                if let path = environment[variable], path.hasPrefix("/") { return path }
                guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
                return FilePath.join(home, fallback)
            }
            guard let configuration = base("XDG_CONFIG_HOME", ".config"),
                let state = base("XDG_STATE_HOME", ".local/state")
            else { return nil }
            let directory = FilePath.join(configuration, "martlet")
            return Defaults(
                file: FilePath.join(directory, "martlet.yml"), state: FilePath.join(state, "martlet"),
                bots: FilePath.join(directory, "bots"), secrets: FilePath.join(directory, "secrets"),
                concurrency: max(1, processors / 2))
        }
    }
}

/// An address and port that the daemon listens on.
package struct ListenAddress: Hashable, Sendable, Codable, CustomStringConvertible {
    /// A host name or an address; IPv6 without its brackets.
    package var host: String
    /// The port; with 0 the system chooses one.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `127.0.0.1:8080`, `localhost:8080` or `[::1]:8080`. Fails for other text.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        let isPlain = host.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || ".:-_%".utf8.contains($0)
        }
        guard !host.isEmpty, host.utf8.count <= 253, isPlain else { return nil }
        self.init(host: String(host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
