import Basics
import Integrations

/// Which launcher starts a service's jobs.
enum LauncherPlace {
    /// The socket of deploy/martlet-launcher.socket.
    private static let ofTheMachine = (directory: "/run/martlet-launcher", name: "launcher.socket")

    /// The machine's where it runs as the state's owner, since another's could not enter the state; else the state's own.
    /// - Returns: An absolute path. Nobody need listen there.
    static func socket(of state: StateDirectory) -> String {
        let (directory, name) = ofTheMachine
        // What cannot be looked at cannot be connected to either.
        guard let machine = try? Directory(opening: directory).status(name)?.owner,
            let own = try? Directory(opening: state.path).status(".")?.owner, machine == own
        else { return state.launcherSocket }
        return "\(directory)/\(name)"
    }
}
