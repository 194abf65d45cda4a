import Model

/// The implementation that communicates with servers: libgit2, or the `git` command.
package enum GitEngine: Sendable, Hashable {
    /// libgit2, except for the following tasks, which the command does if it is installed:
    /// - https
    /// - ssh: OpenSSH supports RSA keys and every form of known_hosts.
    /// - local paths that `PathRepository` does not cover: libgit2 packs them again, on one core and without existing deltas.
    /// - first mirrors: libgit2 indexes a pack on one core.
    case automatic
    /// libgit2 alone, as on machines without `git`.
    case library
    /// The `git` command alone.
    case program

    /// Returns the command if it is to be used; `nil` if libgit2 is.
    /// - Throws: `unsupported` if libgit2 cannot do it and the command is not installed; `unreachable` if the command cannot be started now.
    func program(for url: RemoteURL, _ credentials: Credentials?, isWhole: Bool, _ operation: String)
        throws(SourceControlError) -> GitProgram?
    {
        func unsupported(_ what: String) -> SourceControlError {
            SourceControlError(
                code: .unsupported, operation: operation,
                message: "libgit2 \(LibGit2.version) cannot do \(what); install git "
                    + "\(GitProgram.oldest.map(String.init).joined(separator: ".")) or newer"
                    + (url.kind == .ssh ? " and OpenSSH's client" : ""))
        }
        let installed = self == .library ? nil : try GitProgram.installed()
        if let installed, url.kind != .ssh || installed.ssh != nil {
            let isWanted = self == .program || isWhole || [.https, .ssh, .path].contains(url.kind)
            return isWanted ? installed : nil
        }
        if url.kind == .ssh, credentials?.knownHosts != nil { throw unsupported("ssh with known hosts of a secret") }
        if url.kind == .ssh, credentials?.key?.isRSA == true { throw unsupported("ssh with an RSA key") }
        if self == .program { throw unsupported("the requested operation") }
        return nil
    }
}
