package import Integrations
import Model
package import Settings

/// The server's configuration, which does not change after it was created.
package struct WebConfiguration: Sendable {
    /// A host's name or address, and a port; port 0 selects any free one.
    package struct Address: Sendable, Hashable, CustomStringConvertible {
        package var host: String
        package var port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// The address as text, such as `[::1]:8080` for IPv6.
        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

        /// Whether only this machine can reach it: 127.0.0.0/8, `::1` and `localhost`.
        package var isLoopback: Bool {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
            return host == "localhost" || host == "::1" || isIPv4 && parts[0] == "127"
        }
    }

    package var listen: [Address]
    /// The path of the Unix socket, whose peers are admins; `nil`: no socket.
    package var socket: String?
    /// The state directory, with `integrations/` and `files/` in it.
    package var state: String
    /// The service's URL for links in answers, without a slash at its end. If it is empty, links are paths.
    package var url: String
    /// Further names of the service; see `ServedHosts`.
    package var hosts: [String]
    /// Whether anybody may read.
    package var anonymousMayRead: Bool
    /// The version that `/health` reports.
    package var version: String
    /// How often a followed log is checked even if no change is reported.
    package var looksAtLogs: Duration
    /// The addresses of reverse proxies whose `X-Forwarded-For` names the client.
    package var proxies: [String]
    /// The ways to sign in with a browser besides a token.
    package var signIn: SignInSettings
    /// How long the audit keeps a row.
    package var auditAge = AuditEntry.usualAge
    /// Whether requests are logged.
    package var log = LogControl()

    package init(
        listen: [Address], socket: String?, state: String, url: String, hosts: [String] = [], anonymousMayRead: Bool,
        version: String, looksAtLogs: Duration = .seconds(1), proxies: [String] = [],
        signIn: SignInSettings = SignInSettings()
    ) {
        self.signIn = signIn
        self.hosts = hosts
        self.proxies = proxies
        self.looksAtLogs = looksAtLogs
        self.listen = listen
        self.socket = socket
        self.state = state
        self.url = url
        self.anonymousMayRead = anonymousMayRead
        self.version = version
    }

    /// The path of `url`, under which a reverse proxy serves the service: `/ci`, or empty.
    package var base: String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let rest = url[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
    }

    /// Returns the reason why the service may not listen as configured, and what to do; `nil` if it may.
    ///
    /// If it listened beyond loopback, another person could create the first token, or read everything, before the operator has a token.
    package func refusalToListen(hasTokens: Bool) -> String? {
        guard !hasTokens, let address = listen.first(where: { !$0.isLoopback }) else { return nil }
        return "listening on \(address) is refused while no token exists: anybody who reaches it would meet a service "
            + "without an owner; listen on 127.0.0.1, or run `martlet token create NAME --role admin` first"
    }
}
