import ArgumentParser
import Foundation
import Glibc
import Settings

/// The daemon's address, the token and colors: options of every command that connects to the daemon.
struct ServerOptions: ParsableArguments {
    @Option(help: "The daemon's URL, or the path of its unix socket (MARTLET_URL).")
    var server: String?

    @Option(help: "An access token (MARTLET_TOKEN). Not needed on the unix socket.")
    var token: String?

    @OptionGroup var colors: ColorOptions

    /// Standard output, with or without colors.
    var terminal: Terminal { colors.terminal }

    /// Connects to the daemon that the options or the environment name, or else to the first existing socket.
    /// - Throws: `Failure` if no daemon can be found.
    func connect() throws -> Connection {
        let environment = ProcessInfo.processInfo.environment
        for sentence in NearMiss.variables(environment.keys) { Output.remark("martlet: \(sentence)") }
        return try configured(environment)
    }

    /// Connects as `connect()`, but prints no remarks.
    func configured(_ environment: [String: String]) throws -> Connection {
        let token = token ?? environment["MARTLET_TOKEN"]
        if let server = named(environment) {
            return server.hasPrefix("/")
                ? try Connection(socket: server, token: token) : try Connection(url: server, token: token)
        }
        let candidates = Self.usualSockets(environment)
        guard let socket = Self.firstThere(of: candidates) else {
            throw Failure(
                .unavailable,
                "there is no daemon to connect to: neither --server nor MARTLET_URL names one, and there is no socket at "
                    + "\(candidates.joined(separator: " or ")); start a daemon with `martlet serve`, or write --server URL"
            )
        }
        return try Connection(socket: socket, token: token)
    }

    /// Connects to the service that has a page.
    ///
    /// A pasted address does not get the token of the environment, which belongs to the service in `MARTLET_URL`.
    /// - Parameter address: The address of the page; `nil` to connect as `connect()`.
    /// - Throws: `Failure` if `--server` names another service.
    func connect(to address: PageAddress?) async throws -> Connection {
        guard let address else { return try connect() }
        if let server, !server.isEmpty {
            guard server.hasPrefix("/") || PageAddress.isSame(server, address.server) else {
                throw Failure(
                    .usage,
                    "the page belongs to \(address.server), and --server names \(server); leave --server out, or write "
                        + "\(address.bot)\(address.number.map { "#\($0)" } ?? "") in place of the address")
            }
            return try connect()
        }
        let environment = ProcessInfo.processInfo.environment
        if let configured = try? configured(environment), let url = try? await configured.publicURL(),
            PageAddress.isSame(url, address.server)
        {
            return try connect()
        }
        var connection = try Connection(url: address.server, token: token)
        if token == nil, environment["MARTLET_TOKEN"] != nil {
            connection.withheldToken =
                "MARTLET_TOKEN was not sent there, because MARTLET_URL does not name that service; write --server "
                + "\(address.server) to send it"
        }
        return connection
    }

    private func named(_ environment: [String: String]) -> String? {
        (server ?? environment["MARTLET_URL"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The socket of the installed systemd unit.
    static let installedSocket = "/run/martlet/martlet.socket"

    /// Returns the first of these sockets that exists; `nil` if none does.
    static func firstThere(of sockets: [String]) -> String? { sockets.first { access($0, F_OK) == 0 } }

    /// Returns the default sockets: that of the installed service, then that of the user's own daemon.
    static func usualSockets(_ environment: [String: String]) -> [String] {
        var sockets = [installedSocket]
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            sockets.append("\(state)/martlet/martlet.socket")
        } else if let home = environment["HOME"] {
            sockets.append("\(home)/.local/state/martlet/martlet.socket")
        }
        return sockets
    }
}
