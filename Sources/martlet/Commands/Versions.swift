import API
import ArgumentParser
import Encodings
import Model

/// The command `martlet versions PRODUCT`.
struct Versions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Lists a product's versions, highest first.")

    @OptionGroup var server: ServerOptions
    @Argument(
        help: "The product; usually the bot's name.", completion: .custom { await Completions.products($0, $1, $2) })
    var product: String
    @Flag(help: "Print the daemon's JSON: the 200 highest.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = "/api/v1/products/\(PercentEncoding.encode(product))/versions"
            if json { return Output.print(try await connection.get(path + "?limit=200")) }
            // Pages of 50 versions: an answer with 200 versions of a hundred files each would exceed the limit of 16 MiB.
            var page = try await connection.get(path, as: API.List<API.Version>.self)
            var versions = page.items
            while let next = page.next {
                page = try await connection.get(
                    path + "?before=\(PercentEncoding.encode(next))", as: API.List<API.Version>.self)
                versions += page.items
            }
            Output.print(
                server.terminal.table(
                    ["VERSION", "PUBLISHED", "COMMIT", "INTEGRATION", "FILES"],
                    versions.map {
                        [
                            $0.yanked ? Cell("\($0.version) (yanked)", .faint) : Cell($0.version),
                            Cell($0.published?.text ?? ""), Cell(String($0.commit.prefix(12))), Cell($0.integration),
                            Cell($0.files.count.counting("file")),
                        ]
                    }))
        }
    }
}

/// The command `martlet yank PRODUCT@VERSION`.
struct Yank: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "yank", abstract: "Takes a version out of latest and of ranges; by its name it stays fetchable.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit@1.4.2.") var version: String

    func run() async throws {
        try await Failure.exiting {
            let parts = version.split(separator: "@", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw Failure(
                    .no, "\(Output.visible(version)) names no version to yank; write PRODUCT@VERSION, such as kit@1.4.2"
                )
            }
            try await server.connect().post(
                "/api/v1/products/\(PercentEncoding.encode(parts[0]))/versions/\(PercentEncoding.encode(parts[1]))/yank"
            )
            Output.print("\(parts[0]) \(parts[1]) is yanked\n")
        }
    }
}
