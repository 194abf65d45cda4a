import API
import ArgumentParser
import Foundation
import Glibc

/// The command `martlet watch BOT#N`.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follows an integration until it ends, and prints its result.",
        discussion: """
            Each step is printed as it begins. The exit status is 0 if the integration is green, also with warnings, and \
            else 1. `martlet log --follow` prints a log meanwhile.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, kit for the latest of a branch or tag, or the address of its page.")
    var integration: IntegrationArgument
    @Flag(help: "Print the daemon's JSON once it has ended, and nothing else.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: integration.address)
            let found = try await connection.get(integration.path, as: API.Integration.self)
            if !json {
                let line = "\(found.id): \(found.shortRef) \(found.commit.prefix(8)) \(found.subject ?? "")"
                Output.print("\(Output.visible(line))\n")
            }
            try await Waiting.verdict(of: found, connection, json ? nil : server.terminal)
        }
    }
}

/// The command `martlet open [BOT#N]`.
struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Opens a page in the browser, or prints its address where there is none.",
        discussion: """
            xdg-open opens it if there is a graphical session and standard output is a terminal. Otherwise the address is \
            printed.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit#41, or kit for the bot's page; the list of bots when left out.")
    var page: IntegrationArgument?

    func run() async throws {
        try await Failure.exiting {
            let connection = try await server.connect(to: page?.address)
            guard let url = try await connection.publicURL() else {
                throw Failure(
                    .software,
                    "the daemon at \(connection.place) does not say its address for browsers; write `url:` into its settings, or "
                        + "name it with --server URL")
            }
            var address = url + "/"
            if let page {
                if page.number != "latest" || page.address?.number != nil {
                    let found = try await connection.get(page.path, as: API.Integration.self)
                    address = PageAddress.page(of: found.bot, found.number, at: url)
                } else {
                    _ = try await connection.get("/api/v1/bots/\(page.bot)")
                    address = "\(url)/bots/\(page.bot)"
                }
            }
            try open(Output.visible(address))
        }
    }

    /// Executes xdg-open in place of this program, or prints the address.
    /// - Parameter address: An address that begins with `http://` or `https://`.
    private func open(_ address: String) throws {
        let environment = ProcessInfo.processInfo.environment
        let isGraphical = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        guard isGraphical, isatty(STDOUT_FILENO) == 1, let program = Doctor.find("xdg-open") else {
            return Output.print(address + "\n")
        }
        let words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(address), nil]
        execv(program, words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        throw Failure(.software, "\(program) could not be started to open \(address): \(reason); open it by hand")
    }
}
