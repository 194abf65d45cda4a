import Glibc
import Model

/// Which proxy the daemon's environment names for a URL, as curl reads it (curl(1), "ENVIRONMENT"): `http_proxy` in lower
/// case only, `https_proxy` and `all_proxy` in both, `no_proxy` a list of hosts and of ends of names.
struct ProxyRules: Sendable {
    var http: String?
    var https: String?
    /// Host names, lower case, leading dots removed; `*` for all.
    var exceptions: [String] = []

    static let ofThisProcess: ProxyRules = {
        let all = ProgramAccess.variable("all_proxy") ?? ProgramAccess.variable("ALL_PROXY")
        return ProxyRules(
            http: ProgramAccess.variable("http_proxy") ?? all,
            https: ProgramAccess.variable("https_proxy") ?? ProgramAccess.variable("HTTPS_PROXY") ?? all,
            noProxy: ProgramAccess.variable("no_proxy") ?? ProgramAccess.variable("NO_PROXY") ?? "")
    }()

    init(http: String?, https: String?, noProxy: String) {
        self.http = http
        self.https = https
        exceptions = noProxy.lowercased().split { $0 == "," || $0 == " " }
            .map { String($0.drop { $0 == "." }) }.filter { !$0.isEmpty }
    }

    /// The proxy without its account, fit for messages.
    func proxy(for url: RemoteURL) -> String? { proxyWithAccount(for: url).map(Self.withoutAccount) }

    /// The proxy as the environment names it, with its password.
    func proxyWithAccount(for url: RemoteURL) -> String? {
        guard let host = url.host, let proxy = url.kind == .http ? http : url.kind == .https ? https : nil else {
            return nil
        }
        let isExcepted = exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
        return isExcepted ? nil : proxy
    }

    /// A proxy without what stands before an `@`.
    static func withoutAccount(_ proxy: String) -> String { proxy.split(separator: "@").last.map(String.init) ?? "" }
}
