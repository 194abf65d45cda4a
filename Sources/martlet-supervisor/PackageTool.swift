import JobProtocol

/// Asks SwiftPM about the package in the current directory. Its manifests are programs: only a job may ask.
struct PackageTool {
    /// The program.
    let swift: String
    /// Options of `swift package` that say where it keeps what it needs; none: where a build keeps it, too.
    let options: [String]

    /// What the package is made of, by `swift package describe`.
    func description() throws(JobCommand.Failure) -> JSON {
        try json([swift, "package"] + options + ["describe", "--type", "json"])
    }

    /// This package's manifest and those of everything it depends on, which is fetched where it is not there yet.
    /// - Parameter scratch: A directory of ours, so that nothing is written into another package's checkout.
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
        // Notes of the tool can stand before the value.
        let start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
        do throws(JobProtocolError) {
            return try JSON(bytes[start...], limit: 64 << 20)
        } catch {
            throw JobCommand.Failure(status: 1, message: "\(command.joined(separator: " ")): \(error)")
        }
    }
}
