import ArgumentParser
import Glibc
import Model

/// `martlet versions PRODUCT`.
struct Versions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists a product's versions, highest first.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The product; usually the bot's name.") var product: String
    @Flag(help: "Print the daemon's JSON.") var json = false

    func run() async throws {
        try await Failure.exiting {
            let connection = try server.connect()
            let path = "/api/v1/products/\(Escaped.segment(product))/versions"
            if json { return Output.print(try await connection.get(path)) }
            let versions = try await connection.get(path, as: List<VersionAnswer>.self).items
            Output.print(
                Output.table(
                    versions.map {
                        [
                            $0.version + ($0.yanked ? " (yanked)" : ""), $0.published ?? "",
                            String($0.commit.prefix(12)),
                            $0.integration ?? "", $0.files.count.counting("file"),
                        ]
                    }))
        }
    }
}

/// `martlet fetch PRODUCT[@RANGE] [FILE]…`.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Downloads a version's files and checks their digests.",
        discussion: "RANGE is a version, latest, latest-pre, ~1.4 or ^1; latest when left out.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "PRODUCT or PRODUCT@RANGE.") var product: String
    @Argument(help: "Only these files.") var files: [String] = []
    @Option(help: "Where to put them.") var output = "."

    func run() async throws {
        try await Failure.exiting {
            let parts = product.split(separator: "@", maxSplits: 1).map(String.init)
            guard let name = parts.first else { throw Failure(.notFound, "name a product") }
            let range = parts.count > 1 ? parts[1] : "latest"
            let connection = try server.connect()
            let version = try await connection.get(
                "/api/v1/products/\(Escaped.segment(name))/versions/\(Escaped.segment(range))", as: VersionAnswer.self)
            let wanted =
                try files.isEmpty
                ? version.files
                : files.map { file in
                    guard let found = version.files.first(where: { $0.path == file }) else {
                        throw Failure(
                            .notFound,
                            "\(name) \(version.version) has no file \(file); it has \(version.files.map(\.path).joined(separator: ", "))"
                        )
                    }
                    return found
                }
            for file in wanted {
                // A published file's name is one component (docs/manual.md, "File server"); the server is not trusted with more.
                guard !file.path.contains("/"), file.path != "..", file.path != "." else {
                    throw Failure(.software, "the daemon names a file with a path: \(Output.visible(file.path))")
                }
                let target = "\(output)/\(file.path)"
                guard access(target, F_OK) != 0 else {
                    throw Failure(.cannotCreate, "\(target) is there already; remove it, or say --output DIRECTORY")
                }
                let path =
                    "/files/\(Escaped.segment(name))/\(Escaped.segment(version.version))/\(Escaped.segment(file.path))"
                let got = try await connection.download(path, to: target)
                guard got.size == file.size, got.sha256 == file.sha256 else {
                    unlink(target)
                    throw Failure(
                        .software, "\(file.path) arrived with another digest than its manifest says; it was removed")
                }
                Output.print("\(file.sha256)  \(file.path)\n")
            }
        }
    }
}

/// `martlet yank PRODUCT@VERSION`.
struct Yank: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes a version out of latest and of ranges; by its name it stays fetchable.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "Such as kit@1.4.2.") var version: String

    func run() async throws {
        try await Failure.exiting {
            let parts = version.split(separator: "@", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Failure(.no, "write PRODUCT@VERSION, such as kit@1.4.2") }
            try await server.connect().post(
                "/api/v1/products/\(Escaped.segment(parts[0]))/versions/\(Escaped.segment(parts[1]))/yank", [:])
            Output.print("\(parts[0]) \(parts[1]) is yanked\n")
        }
    }
}
