/// What kept us from working with a repository. Ours to say, never a verdict about the code in it.
package struct SourceControlError: Error, CustomStringConvertible {
    /// What went wrong, as far as it decides what to do next.
    package enum Code: String, Sendable {
        /// Not a URL that is allowed; see `RemoteURL`.
        case invalidURL
        /// There is no repository there, or it is hidden from us.
        case repositoryNotFound
        /// The server asks for credentials, and there are none.
        case credentialsMissing
        /// The server refuses the credentials.
        case credentialsRefused
        /// The server's certificate or host key is not one we know.
        case serverUntrusted
        /// The server answered with another address, which is not followed.
        case redirected
        /// No answer, or the connection broke.
        case unreachable
        /// It took longer than a limit of `NetworkLimits`.
        case timedOut
        /// The task was canceled.
        case canceled
        /// The repository has neither branches nor tags.
        case empty
        /// The ref, or the commit it had, is not there any more.
        case refGone
        /// The ref leads to a blob or a tree.
        case notACommit
        /// The mirror does not hold the commit; fetch first.
        case commitMissing
        /// Neither the exact name of a ref nor a commit's id.
        case invalidRevision
        /// More or larger than a documented limit.
        case tooLarge
        /// The commit's tree holds a path that must not be written.
        case treeRefused
        /// The mirror's files are damaged; the next fetch brings what is missing again.
        case mirrorDamaged
        /// So are those of a submodule's mirror; the next fetch of the submodules mends it.
        case submoduleDamaged
        /// Something of git that neither libgit2 1.5 nor, where it is missing, the `git` command can do for us.
        case unsupported
        /// Reading or writing on our own disk failed.
        case file
        /// Anything else that libgit2 says.
        case other
    }

    package let code: Code
    /// What was being tried: `look at`, `fetch of`.
    package let operation: String
    /// One or two sentences: on what, what happened, what to do. Without secrets and control characters.
    package let message: String
    package let underlying: (any Error)?
    /// The pause that the server asked for, at most an hour; `nil` if it asked for none.
    package let retryAfter: Duration?

    /// - Parameter message: Control characters in it are shown escaped, since servers write into such texts.
    package init(
        code: Code, operation: String, message: String, underlying: (any Error)? = nil, retryAfter: Duration? = nil
    ) {
        self.retryAfter = retryAfter
        self.code = code
        self.operation = operation
        self.message = Self.printable(message)
        self.underlying = underlying
    }

    package var description: String { "\(operation) failed: \(message)" }

    /// Replaces what could move a terminal's cursor or break a log's line by its escape.
    static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(2000) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
