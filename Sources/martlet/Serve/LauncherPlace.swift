import Basics
import Execution
import Integrations

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
}
