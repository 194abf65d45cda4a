import Foundation
import Glibc

/// Where `martlet-supervisor` is.
enum SupervisorProgram {
    /// Beside this binary, as built, or in `lib/martlet` beside its `bin`, as installed.
    /// - Throws: `Failure` when it is at neither place.
    static func path() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let directory = (own as NSString).deletingLastPathComponent
        let candidates = [
            directory + "/martlet-supervisor",
            (directory as NSString).deletingLastPathComponent + "/lib/martlet/martlet-supervisor",
        ]
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                .configuration,
                "martlet-supervisor is neither at \(candidates.joined(separator: " nor at ")); install it")
        }
        return found
    }
}
