import Glibc
import TestSupport

/// The user of a job. In production the daemon is never root; tests often are, and `martlet run` can be.
enum JobUser: CaseIterable, Sendable {
    /// Launcher, supervisor, workspace and job belong to this process's user.
    case own
    /// Launcher and supervisor belong to root, the workspace to an ordinary user.
    case workspaceOwner
    /// All belong to an ordinary user.
    case ordinary

    /// A user without a name and without files. Each test has its own, because the kernel counts processes by user (RLIMIT_NPROC), and one test's
    /// fork bomb would leave none for another's job.
    @TaskLocal static var ordinaryUser: uid_t = 48_151
    private static let users = Locked<uid_t>(48_151)

    /// Runs a test with an ordinary user of its own.
    static func withOwn<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let user = users.withLock { last in
            last += 1
            return last
        }
        return try await $ordinaryUser.withValue(user) { try await body() }
    }

    /// The cases that can be tried here. Only root can become another user.
    static var possible: [JobUser] { getuid() == 0 ? allCases : [.own] }

    /// Gives a directory to the ordinary user if the case needs one, and starts that user's launcher.
    /// - Returns: The path of the supervisor's program.
    func prepare(_ directory: TemporaryDirectory, workspace: String, socket: String) async throws -> String {
        let supervisor = try TestTools.builtProduct("martlet-supervisor")
        switch self {
        case .own: return supervisor
        case .workspaceOwner:
            Self.give(workspace)
            return supervisor
        case .ordinary:
            for path in [directory.path, workspace] { Self.give(path) }
            // Other users may not read the build directory.
            let copy = directory.path("martlet-supervisor")
            try await runExpectingSuccess(["cp", supervisor, copy])
            try await runExpectingSuccess(command([copy, "--listen", socket, "--detach"]), in: "/")
            return copy
        }
    }

    /// Returns a command that runs as this user, without root's capabilities.
    func command(_ arguments: [String]) -> [String] {
        guard self == .ordinary else { return arguments }
        let user = "\(Self.ordinaryUser)"
        return [
            "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        ] + arguments
    }

    static func give(_ path: String) { lchown(path, ordinaryUser, ordinaryUser) }
}
