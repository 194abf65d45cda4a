import Foundation
import Glibc
import Integrations

/// Which launcher starts a service's jobs.
enum LauncherPlace {
    /// The socket of deploy/martlet-launcher.socket.
    private static let ofTheMachine = "/run/martlet-launcher/launcher.socket"

    /// The machine's where it runs as the state's owner, since another's could not enter the state; else the state's own.
    /// - Returns: An absolute path. Nobody need listen there.
    static func socket(of state: StateDirectory) -> String {
        var (machine, own) = (stat(), stat())
        let isMachines =
            stat(ofTheMachine, &machine) == 0 && stat(state.path, &own) == 0 && machine.st_uid == own.st_uid
        return isMachines ? ofTheMachine : state.launcherSocket
    }
}
