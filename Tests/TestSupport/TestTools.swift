import Foundation
import Testing

/// Programs that tests run.
package enum TestTools {
    /// Returns the path of a product of this package, which is beside the test bundle.
    package static func builtProduct(_ name: String) throws -> String {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ProgramFailure(description: "\(path) is not there: build it with `swift build --product \(name)`")
        }
        return path
    }

    /// curl without the user's settings and proxies, and with a limit. `-q` must be the first argument.
    package static var curl: [String] {
        ["curl", "-q", "-sS", "--noproxy", "*", "--max-time", "\((TestLimits.wait * 2).components.seconds)"]
    }

    /// Returns the path of a program in PATH or in the system's directories.
    package static func find(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return directories.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
