import Foundation
import GRDB
import Glibc

/// The machine's own times for the things that every integration needs, in milliseconds. They are measured in the same run as the figures that are
/// compared with them.
package struct Baseline {
    /// Starting `/bin/true` and waiting for its exit.
    package let spawn: Figures
    /// A shell that executes `date`: the first command of the measured job.
    package let command: Figures
    /// Storing one row in SQLite with WAL and `synchronous = FULL`.
    package let commit: Figures
    /// The time of `/bin/true` under bubblewrap with every namespace; `nil` if bubblewrap cannot work here.
    package let sandbox: Figures?

    /// - Parameter directory: A directory on the state's file system.
    /// - Throws: `ServiceFailure`, `DatabaseError`.
    package init(in directory: String) throws {
        spawn = try Self.figures { try Shell.wait(Shell.start(["/bin/true"])) }
        command = try Self.figures { try Shell.wait(Shell.start(["/bin/sh", "-c", "exec date +%s%N"])) }
        let path = directory + "/baseline.sqlite"
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (text TEXT)")
        }
        commit = try Self.figures {
            try queue.write { try $0.execute(sql: "INSERT INTO rows VALUES (?)", arguments: ["a row of some length"]) }
        }
        try queue.close()
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        let arguments = [
            "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            "--tmpfs", "/tmp", "/bin/true",
        ]
        if Shell.has("bwrap"), try Shell.wait(Shell.start(arguments)) == 0 {
            sandbox = try Self.figures { try Shell.wait(Shell.start(arguments)) }
        } else {
            sandbox = nil
        }
    }

    private static func figures(_ body: () throws -> Void) throws -> Figures {
        Figures(try (0..<100).map { _ in try Moment.milliseconds(body) })
    }
}
