import JobProtocol

/// Queries SwiftPM about the package in the current directory. Its manifests are programs, so only a job may do this.
struct PackageTool {
    /// The path or name of the `swift` program.
    let swift: String
    /// The options of `swift package` that choose its directories. If they are empty, it uses the directories of a build.
    let options: [String]

    /// Returns the package's targets according to `swift package describe`.
    func description() throws(JobCommand.Failure) -> JSON {
        try json([swift, "package"] + options + ["describe", "--type", "json"])
    }

    /// Returns the manifests of this package and of all its dependencies, which are fetched if necessary.
    /// - Parameter scratch: A separate directory, so that SwiftPM writes nothing into another package's checkout.
    func manifests(scratch: String) throws(JobCommand.Failure) -> [PackageManifest] {
        let tree = try json([swift, "package"] + options + ["show-dependencies", "--format", "json"])
        var directories: [String] = []
        var pending = [tree]
        while let node = pending.popLast() {
            if let path = node["path"]?.text, !directories.contains(path) { directories.append(path) }
            pending += (node["dependencies"]?.elements ?? []).reversed()
        }
        var packages: [PackageManifest] = []
        for directory in directories {
            let manifest = try json([
                swift, "package", "--package-path", directory, "--scratch-path", scratch, "dump-package",
            ])
            packages.append(PackageManifest(json: manifest, directory: directory))
        }
        return packages
    }

    private func json(_ command: [String]) throws(JobCommand.Failure) -> JSON {
        let bytes = try JobCommand.capture(command)
        // The tool may print notes before the value.
        let start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
        do throws(JobProtocolError) {
            return try JSON(bytes[start...], limit: 64 << 20)
        } catch {
            throw JobCommand.Failure(status: 1, message: "\(command.joined(separator: " ")): \(error)")
        }
    }
}
