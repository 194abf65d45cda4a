import Basics
import Reports
import TestSupport

/// Outputs of Swift 6.3.1 on a small package with crashing, skipped, overloaded and parameterized tests, kept in Samples.
enum Samples {
    /// The package's directory when they were made.
    static let root = SourceRoot(mountedAt: "/home/me/pkg")

    static func bytes(_ name: String) throws -> [UInt8] {
        try WholeFile.read(Project.root + "/Tests/ReportsTests/Samples/" + name, limit: 1 << 20)
    }

    static func lines(_ name: String) throws -> [String] {
        String(decoding: try bytes(name), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
