import Foundation
import GRDB
import Glibc

/// What the machine itself takes for the things that every integration needs, measured in the same run as the figures that are
/// compared with it. All in milliseconds.
package struct Baseline {
    /// Starting `/bin/true` and waiting for its end.
    package let spawn: Figures
    /// A shell that becomes `date`: what the measured job's first command is.
    package let command: Figures
    /// One row in SQLite with WAL and `synchronous = FULL`.
    package let commit: Figures
    /// The time of `/bin/true` under bubblewrap with every namespace; `nil` if bubblewrap cannot work here.
    package let fence: Figures?

    /// - Parameter directory: On the file system that the state is on.
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
            fence = try Self.figures { try Shell.wait(Shell.start(arguments)) }
        } else {
            fence = nil
        }
    }

    private static func figures(_ body: () throws -> Void) throws -> Figures {
        Figures(try (0..<100).map { _ in try Moment.milliseconds(body) })
    }
}
