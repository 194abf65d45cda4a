import Glibc
import TestSupport

/// Whose a job is. The daemon is never root where it serves; tests often are, and `martlet run` can be.
enum JobUser: CaseIterable, Sendable {
    /// Launcher, supervisor, workspace and job are this process's user's.
    case own
    /// Launcher and supervisor are root's, the workspace is an ordinary user's.
    case workspaceOwner
    /// All are an ordinary user's.
    case ordinary

    /// One that has no name and no files. Each test has its own: the kernel counts processes by user (RLIMIT_NPROC), so that one test's
    /// bomb would leave another's job none.
    @TaskLocal static var ordinaryUser: uid_t = 48_151
    private static let users = Locked<uid_t>(48_151)

    /// Gives what a test does a user of its own.
    static func withOwn<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let user = users.withLock { last in
            last += 1
            return last
        }
        return try await $ordinaryUser.withValue(user) { try await body() }
    }

    /// Only root can be others.
    static var possible: [JobUser] { getuid() == 0 ? allCases : [.own] }

    /// Makes a directory the ordinary user's, where he is needed, and starts his launcher.
    /// - Returns: The supervisor's program.
    func prepare(_ directory: TemporaryDirectory, workspace: String, socket: String) async throws -> String {
        let supervisor = try TestTools.builtProduct("martlet-supervisor")
        switch self {
        case .own: return supervisor
        case .workspaceOwner:
            Self.give(workspace)
            return supervisor
        case .ordinary:
            for path in [directory.path, workspace] { Self.give(path) }
            // Where it was built, others may not look.
            let copy = directory.path("martlet-supervisor")
            try await runExpectingSuccess(["cp", supervisor, copy])
            try await runExpectingSuccess(command([copy, "--listen", socket, "--detach"]), in: "/")
            return copy
        }
    }

    /// A command as this user, without root's capabilities.
    func command(_ arguments: [String]) -> [String] {
        guard self == .ordinary else { return arguments }
        let user = "\(Self.ordinaryUser)"
        return [
            "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        ] + arguments
    }

    static func give(_ path: String) { lchown(path, ordinaryUser, ordinaryUser) }
}
