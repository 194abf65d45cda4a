/// The reason why a repository could not be used. It is a failure of the service or the server, never a verdict on the code.
package struct SourceControlError: Error, CustomStringConvertible {
    /// The kind of error, which determines what to do next.
    package enum Code: String, Sendable {
        /// The URL is not allowed; see `RemoteURL`.
        case invalidURL
        /// There is no repository at the URL, or the server hides it.
        case repositoryNotFound
        /// The server asks for credentials, and none are configured.
        case credentialsMissing
        /// The server refuses the credentials.
        case credentialsRefused
        /// The server's certificate or host key is not trusted.
        case serverUntrusted
        /// The server answered with another address, which is not followed.
        case redirected
        /// There was no answer, or the connection broke.
        case unreachable
        /// The operation exceeded a time limit of `NetworkLimits`.
        case timedOut
        /// The task was canceled.
        case canceled
        /// The repository has neither branches nor tags.
        case empty
        /// The ref, or the commit that it had, no longer exists.
        case refGone
        /// The ref leads to a blob or a tree.
        case notACommit
        /// The mirror does not have the commit, which must be fetched first.
        case commitMissing
        /// The text is neither the exact name of a ref nor a commit's id.
        case invalidRevision
        /// A documented limit is exceeded.
        case tooLarge
        /// The commit's tree contains a path that must not be written.
        case treeRefused
        /// The mirror's files are damaged. The next fetch gets the missing objects again.
        case mirrorDamaged
        /// The files of a submodule's mirror are damaged. The next fetch of the submodules repairs them.
        case submoduleDamaged
        /// The operation needs a feature that libgit2 1.5 lacks. The `git` command is not installed, or lacks it, too.
        case unsupported
        /// Reading or writing on the local disk failed.
        case file
        /// Any other error of libgit2.
        case other
    }

    package let code: Code
    /// The operation that was tried: `look at`, `fetch of`.
    package let operation: String
    /// One or two sentences: on what, what happened, what to do. They contain no secrets and no control characters.
    package let message: String
    package let underlying: (any Error)?
    /// The pause that the server asked for, at most an hour; `nil` if it asked for none.
    package let retryAfter: Duration?

    /// - Parameter message: Its control characters are escaped, because it may contain text of a server.
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

    /// Whether the server refuses the credentials or has none of them, or its certificate or host key is not trusted.
    package var isOfCredentials: Bool {
        [.credentialsMissing, .credentialsRefused, .serverUntrusted].contains(code)
    }

    /// Escapes the characters that could move a terminal's cursor or break a log's line.
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
