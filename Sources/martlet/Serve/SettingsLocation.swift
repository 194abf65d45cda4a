import ArgumentParser
import Foundation
import Glibc
import Settings

/// The path of the settings file: an option of the commands that read it themselves.
struct SettingsLocation: ParsableArguments {
    @Option(help: "The settings file. Default: /etc/martlet/martlet.yml, or the user's own where that is absent.")
    var settings: String?

    /// The largest settings file that is read, in bytes.
    static let maximumBytes = 256 * 1024

    /// Reads the settings.
    /// - Throws: `Failure` with every error in the file.
    func read() throws -> ServiceSettings { try find().settings }

    /// Reads the settings, and returns the path of their file, which may not exist.
    /// - Throws: `Failure` with every error in the file.
    func find() throws -> (settings: ServiceSettings, file: String) {
        let environment = ProcessInfo.processInfo.environment
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let system = ServiceSettings.Defaults.system(processors: processors)
        let isSystem = settings == nil ? access(system.file, F_OK) == 0 : settings == system.file
        let user = ServiceSettings.Defaults.user(environment: environment, processors: processors)
        guard var defaults = isSystem ? system : user else {
            throw Failure(
                .configuration, "HOME is not set, so there is no place for settings and state; write --settings FILE")
        }
        let path = settings.map(Self.absolute) ?? defaults.file
        defaults.file = path
        if let settings, !isSystem {
            // The default directories are beside the settings, so that a directory with everything in it can be moved.
            let directory = (Self.absolute(settings) as NSString).deletingLastPathComponent
            defaults.bots = directory + "/bots"
            defaults.secrets = directory + "/secrets"
        }
        var text = ""
        if access(path, F_OK) == 0 {
            guard let data = FileManager.default.contents(atPath: path), data.count <= Self.maximumBytes else {
                throw Failure(
                    .configuration,
                    "the settings \(path) cannot be read: this user may not, or they are larger than \(Self.maximumBytes) bytes"
                )
            }
            text = String(decoding: data, as: UTF8.self)
        } else if let other = NearMiss.settings(inPlaceOf: path) {
            throw Failure(
                .configuration,
                "there is no settings file \(path), but \(other), which is not read; rename it to \(path)")
        } else if settings != nil {
            throw Failure(.configuration, "there is no settings file \(path)")
        }
        let reading = SettingsReader.read(yaml: text, file: path, defaults: defaults)
        guard let value = reading.value, reading.errors.isEmpty else {
            throw Failure(.configuration, lines: reading.diagnostics.map(\.description))
        }
        return (value, path)
    }

    /// Creates the directory of secrets if root runs this before the service did. The directory belongs to the service's user, and secrets stored in
    /// it then get the same owner.
    func makeSecretsDirectory(_ path: String, _ settings: ServiceSettings) throws {
        let user = settings.user ?? ServiceIdentity.usualUser
        guard geteuid() == 0, let entry = getpwnam(user), mkdir(path, 0o700) == 0 else {
            return
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fchown(descriptor, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw Failure(.cannotCreate, "\(path) could not be given to \(user): \(String(cString: strerror(errno)))")
        }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
