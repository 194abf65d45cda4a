import Glibc
import Model

/// The proxy of the daemon's environment for a URL, by the rules of curl (curl(1), "ENVIRONMENT"). `http_proxy` counts only in lower case,
/// `https_proxy` and `all_proxy` in both. `no_proxy` is a list of hosts and of suffixes of names.
struct ProxyRules: Sendable {
    var http: String?
    var https: String?
    /// Host names in lower case, without leading dots; `*` for all hosts.
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

    /// Returns the proxy without its account, for messages; `nil` for none.
    func proxy(for url: RemoteURL) -> String? { proxyWithAccount(for: url).map(Self.withoutAccount) }

    /// Returns the proxy as the environment states it, with its password; `nil` for none.
    func proxyWithAccount(for url: RemoteURL) -> String? {
        guard let host = url.host, let proxy = url.kind == .http ? http : url.kind == .https ? https : nil else {
            return nil
        }
        let isExcepted = exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
        return isExcepted ? nil : proxy
    }

    /// Returns a proxy without the part before an `@`.
    static func withoutAccount(_ proxy: String) -> String { proxy.split(separator: "@").last.map(String.init) ?? "" }
}
