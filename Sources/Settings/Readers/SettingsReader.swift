import Model

/// A reader of the service's settings, `martlet.yml`.
package enum SettingsReader {
    /// The most jobs at one time.
    static let concurrencyRange = 1...256
    /// The most addresses to listen on.
    static let maximumAddresses = 16
    /// The most reverse proxies.
    static let maximumProxies = 16
    /// How long the audit may keep a row: a day to ten years.
    static let auditRange: ClosedRange<Duration> = .seconds(86_400) ... .seconds(3650 * 86_400)
    /// The most names in `hosts`.
    private static let maximumHosts = 64

    /// Reads the settings.
    /// - Parameters:
    ///   - file: The path, for messages; relative `bots`, `secrets` and `images` are relative to its directory.
    ///   - defaults: The values of keys that are not written. An empty file uses all of them.
    package static func read(
        yaml: String, file: String, defaults: ServiceSettings.Defaults
    ) -> Reading<ServiceSettings> {
        var diagnostics = Diagnostics(file: file)
        let root = YAMLParser.parse(yaml, &diagnostics)
        guard !diagnostics.hasErrors else { return diagnostics.reading(of: nil) }
        let empty = YAMLNode(position: .start, content: .mapping([]))
        guard let fields = Fields(root ?? empty, Keys.settings, of: "the settings file", &diagnostics) else {
            return diagnostics.reading(of: nil)
        }
        var settings = ServiceSettings(
            state: defaults.state, bots: defaults.bots, concurrency: defaults.concurrency, secrets: defaults.secrets,
            user: defaults.user)
        settings.listen = listen(fields["listen"], &diagnostics) ?? settings.listen
        settings.url = url(fields["url"], &diagnostics)
        settings.proxies = proxies(fields["proxies"], &diagnostics)
        settings.hosts = hosts(fields["hosts"], &diagnostics)
        let base = FilePath.parent(of: file)
        settings.state = path(fields["state"], "state", base: nil, &diagnostics) ?? settings.state
        settings.bots = path(fields["bots"], "bots", base: base, &diagnostics) ?? settings.bots
        settings.secrets = path(fields["secrets"], "secrets", base: base, &diagnostics) ?? settings.secrets
        settings.concurrency =
            diagnostics.number(fields["concurrency"], "concurrency", within: concurrencyRange) ?? settings.concurrency
        settings.anonymous = diagnostics.word(fields["anonymous"], "anonymous") ?? settings.anonymous
        settings.isolation = diagnostics.word(fields["isolation"], "isolation")
        settings.sandbox = SandboxReader.sandbox(fields["sandbox"], &diagnostics)
        settings.images = path(fields["images"], "images", base: base, &diagnostics)
        settings.user = user(fields["user"], &diagnostics) ?? settings.user
        settings.mail = MailSettings.read(fields["mail"], &diagnostics)
        settings.traces = TraceSettings.read(fields["traces"], &diagnostics)
        settings.certificates = path(fields["certificates"], "certificates", base: nil, &diagnostics)
        settings.signing = diagnostics.secretName(fields["signing"], "signing")
        settings.signIn = SignInSettings.read(fields["sign-in"], &diagnostics)
        settings.executors = ExecutorReader.executors(fields["executors"], state: settings.state, &diagnostics)
        settings.defaultExecutor = ExecutorReader.preferred(
            fields["default-executor"], among: settings.executors, &diagnostics)
        settings.operators = OperatorSettings.read(
            fields["operator"], hasMail: settings.mail != nil || fields["mail"] != nil, &diagnostics)
        settings.auditAge =
            diagnostics.duration(fields["audit"], "audit", within: auditRange) ?? settings.auditAge
        settings.log = LogSettings.read(fields["log"], &diagnostics)
        if let retention = RetentionReader.serviceRetention(fields["retention"], &diagnostics) {
            (settings.retention, settings.caches) = retention
        }
        return diagnostics.reading(of: settings)
    }

    private static func listen(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [ListenAddress]? {
        guard let node, let items = diagnostics.items(node, "listen") else { return nil }
        if items.isEmpty || items.count > maximumAddresses {
            diagnostics.error("`listen` has 1 to \(maximumAddresses) addresses", at: node.position)
        }
        var addresses: [ListenAddress] = []
        for item in items {
            guard let text = diagnostics.line(item, "listen") else { continue }
            if let address = ListenAddress(text) {
                if addresses.contains(address) {
                    diagnostics.error("`\(address)` is written twice; remove one of the two", at: item.position)
                }
                addresses.append(address)
            } else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not an address with a port; write 127.0.0.1:8080, [::1]:8080 or, for every "
                        + "address of the machine, 0.0.0.0:8080", at: item.position)
            }
        }
        return addresses
    }

    private static func hosts(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node, let items = diagnostics.items(node, "hosts") else { return [] }
        if items.count > maximumHosts {
            diagnostics.error("`hosts` has at most \(maximumHosts) names", at: node.position)
        }
        return items.compactMap { item in
            guard let text = diagnostics.line(item, "hosts") else { return nil }
            // In `listen` a port follows. Here an IPv6 address, which has at least two colons, is written without brackets.
            let isAddress = text.utf8.count { $0 == UInt8(ascii: ":") } > 1
            guard let address = ListenAddress(isAddress ? "[\(text)]:0" : text + ":0") else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not a host; write a name or an address without a port, such as "
                        + "ci.acme.example", at: item.position)
                return nil
            }
            return address.host.lowercased()
        }
    }

    private static func url(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, var text = diagnostics.line(node, "url") else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        guard let parts = AddressText.parts(of: text), ["http", "https"].contains(parts.scheme),
            !parts.host.isEmpty, !parts.hasPassword, text.utf8.count <= AddressText.maximumLength,
            !text.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" || $0 == "\"" || $0 == "<" || $0 == "@" })
        else {
            diagnostics.error(
                "`url` is the address that others reach the service at, such as https://ci.acme.example, not "
                    + Printable.quoted(AddressText.withoutPassword(text)), at: node.position)
            return nil
        }
        return text
    }

    private static func proxies(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node, let items = diagnostics.items(node, "proxies") else { return [] }
        if items.count > maximumProxies {
            diagnostics.error("`proxies` has at most \(maximumProxies) addresses", at: node.position)
        }
        return items.compactMap { item in
            guard let text = diagnostics.line(item, "proxies") else { return nil }
            guard IPAddress(text) != nil else {
                diagnostics.error(
                    "`proxies` are the IP addresses from which reverse proxies connect, such as 127.0.0.1, not "
                        + Printable.quoted(text), at: item.position)
                return nil
            }
            return text
        }
    }

    private static func path(
        _ node: YAMLNode?, _ key: String, base: String?, _ diagnostics: inout Diagnostics
    ) -> String? {
        guard let node, var text = diagnostics.line(node, key) else { return nil }
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        if text.hasPrefix("/") { return text }
        guard let base, !text.hasPrefix("~") else {
            diagnostics.error("`\(key)` is an absolute path, not \(Printable.quoted(text))", at: node.position)
            return nil
        }
        return FilePath.join(base, text)
    }

    private static func user(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let text = diagnostics.line(node, "user") else { return nil }
        let isName = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "._-".utf8.contains($0)
        }
        guard isName, text.utf8.count <= 32, !text.hasPrefix("-"), text != "root", text != "0" else {
            diagnostics.error(
                "`user` is the name of a user of this machine, never root, not \(Printable.quoted(text))",
                at: node.position)
            return nil
        }
        return text
    }
}
