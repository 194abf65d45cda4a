import Basics
import Execution
import Foundation
import Glibc
import Integrations

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

    /// Returns the path of an installed file in `share/martlet` beside the program's `bin`.
    /// - Returns: `nil` if it is not installed.
    static func sharedFile(_ name: String) -> String? {
        // Without /proc no path is known.
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
        let prefix = ((own as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
        let path = "\(prefix)/share/martlet/\(name)"
        return access(path, R_OK) == 0 ? path : nil
    }

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

/// The choice of the launcher that starts a service's jobs.
enum LauncherPlace {
    /// The socket of the machine's launcher (deploy/martlet-launcher.socket).
    private static let ofTheMachine = (directory: "/run/martlet-launcher", name: "launcher.socket")

    /// Returns the socket of the launcher. It is the machine's launcher if that runs as the owner of the state directory; another user could not
    /// enter that directory. Otherwise it is the state directory's own launcher.
    /// - Returns: An absolute path. A launcher need not be listening there.
    static func socket(of state: StateDirectory) -> String {
        let (directory, name) = ofTheMachine
        // A path that cannot be examined cannot be connected to either.
        guard let machine = try? Directory(opening: directory).status(name)?.owner,
            let own = try? Directory(opening: state.path).status(".")?.owner, machine == own
        else { return state.launcherSocket }
        return "\(directory)/\(name)"
    }

    /// Whether a socket is that of the machine's launcher, which the service manager keeps.
    static func isOfTheMachine(_ socket: String) -> Bool { socket == "\(ofTheMachine.directory)/\(ofTheMachine.name)" }
}
