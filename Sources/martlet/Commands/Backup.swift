import ArgumentParser
import Execution
import Foundation
import Glibc
import Integrations
import Model
import Settings
import Storage

/// The command `martlet backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies the state into a new directory, also while the daemon works; --verify checks such a copy.",
        discussion: """
            It reads the state directory that the settings name, so run it as the service's user or as root. The settings' own directory, with bot \
            files and secrets, is not in it.
            """)

    @OptionGroup var location: SettingsLocation
    @Argument(
        help: "The directory of the backup. A new backup needs one that is empty or not there.", completion: .directory)
    var directory: String
    @Flag(help: "Also copy artifacts, archives and reports of integrations. Logs are always copied.")
    var withArtifacts =
        false
    @Flag(help: "Check an existing backup: every file, the database, and that they belong together.") var verify = false

    func run() async throws {
        try await Failure.exiting {
            let path = BackupPlace.absolute(directory)
            do {
                if verify {
                    let description = try Backup.verify(path)
                    return Output.print("\(BackupPlace.words(description, path)): every file is as it was\n")
                }
                let settings = try location.read()
                let backup = Backup(
                    of: StateDirectory(path: settings.state), in: path, version: Martlet.version, clock: .system)
                let description = try backup.make(hasArtifacts: withArtifacts)
                Output.print("\(BackupPlace.words(description, path))\n")
            } catch let error as BackupError {
                throw Failure(verify ? .no : .cannotCreate, "\(error)")
            }
        }
    }
}

/// The command `martlet restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restores a backup into an empty state directory, while no daemon works on it.",
        discussion: """
            Afterwards publishing is held, because versions may have been published after the backup was made. \
            `martlet resume --publishing` lets it go on. --latest is for moving to another machine: the backup was made after the daemon was stopped for good.
            """)

    @OptionGroup var location: SettingsLocation
    @Argument(help: "The directory of the backup.", completion: .directory) var directory: String
    @Flag(help: "Nothing has happened since the backup was made: numbers go on, and publishing is not held.")
    var latest =
        false

    func run() async throws {
        try await Failure.exiting {
            let settings = try location.read()
            let path = BackupPlace.absolute(directory)
            do {
                let restore = Restore(of: path, into: StateDirectory(path: settings.state), clock: .system)
                let description = try await restore.run(
                    isLatest: latest, owner: BackupPlace.owner(settings), by: NSUserName())
                Output.print("\(BackupPlace.words(description, path)) is restored into \(settings.state)\n")
                if !latest {
                    Output.print(
                        "publishing is held: once you know what was published since, `martlet resume --publishing` lets it go on\n"
                    )
                }
            } catch let error as BackupError {
                throw Failure(.cannotCreate, "\(error)")
            }
        }
    }
}

/// What the commands of backups share.
enum BackupPlace {
    static func absolute(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return (whole as NSString).standardizingPath
    }

    static func words(_ description: BackupDescription, _ path: String) -> String {
        let artifacts = description.hasArtifacts ? " with artifacts" : ""
        return Output.visible(
            "\(path), made \(description.made)\(artifacts): \(description.files.counting("file")), \(ByteCount(description.bytes))"
        )
    }

    /// Returns the service's user, to whom files that root restores belong; `nil` if this is not root, or there is no such user.
    static func owner(_ settings: ServiceSettings) -> Restore.Owner? {
        guard geteuid() == 0, let entry = getpwnam(settings.user ?? ServiceIdentity.usualUser) else { return nil }
        return Restore.Owner(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }
}
