import Execution
import Foundation
import Glibc

/// The paths of the programs that belong to `martlet`.
enum OwnPrograms {
    /// Returns the path of `martlet-supervisor`.
    /// - Throws: `Failure` if it is in neither place.
    static func supervisor() throws -> String { try path(of: "martlet-supervisor") }

    /// Returns the path of `martlet-tools`, the commands of steps that Martlet plans.
    /// - Throws: `Failure` if it is in neither place.
    static func tools() throws -> String { try path(of: "martlet-tools") }

    /// Returns `martlet-reader`, which reads reports and logs.
    /// - Throws: `Failure` if it is in neither place.
    static func reader() throws -> ReaderProgram { ReaderProgram(path: try path(of: "martlet-reader")) }

    /// Returns the path of a program: beside this one, as built, or in `lib/martlet` beside its `bin`, as installed.
    /// - Throws: `Failure` if it is in neither place.
    private static func path(of program: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let directory = (own as NSString).deletingLastPathComponent
        let candidates = [
            directory + "/" + program,
            (directory as NSString).deletingLastPathComponent + "/lib/martlet/" + program,
        ]
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                .configuration,
                "\(program) is neither at \(candidates.joined(separator: " nor at ")); install it")
        }
        return found
    }
}
