import Archives
import Logging
package import Model
import Storage

/// The reason why a version could not be yanked. The message is fit for outsiders.
package struct YankError: Error, CustomStringConvertible {
    /// What the caller can do about it.
    package enum Code: Sendable {
        /// There is no such published version.
        case notFound
        /// The same request may succeed later.
        case unavailable
    }

    package let code: Code
    package let message: String
    /// The cause, for the log only.
    package let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    package var description: String { message }
}

extension Publisher {
    /// Excludes a version from `latest` and from ranges. It can still be fetched by its name forever.
    /// - Throws: `YankError`; the version is then unchanged, or its files are marked and its row is not.
    package func yank(product: Name, version: SemanticVersion, by actor: String) async throws(YankError) {
        do {
            try await versions.yank(
                product: product, version: version, reason: "yanked by \(actor)", at: clock.now())
            try await store.yank(product: product, version: version, at: clock.now())
            logger.info("yanked", metadata: ["product": "\(product)", "version": "\(version)", "by": "\(actor)"])
        } catch let error as ArchiveError where error.code == .notFound {
            throw YankError(.notFound, "there is no published version \(version) of \(product)")
        } catch let error as StoreError where error.code == .notFound {
            throw YankError(
                .unavailable,
                "the files of \(product) \(version) are in place and marked as yanked, but it is not published whole; restart the "
                    + "daemon, which takes it up as it lies there", underlying: error)
        } catch {
            logger.error("a version could not be yanked", metadata: ["error": "\(error)"])
            let damage = (error as? ArchiveError).flatMap { $0.code == .corrupted ? $0.message : nil }
            throw YankError(
                .unavailable, "\(product) \(version) could not be yanked; \(damage ?? "try again")", underlying: error)
        }
    }
}
