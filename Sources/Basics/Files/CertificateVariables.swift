import Glibc

/// The environment variables that name trusted certificates in place of the machine's, as OpenSSL reads them (SSL_CTX_set_default_verify_paths(3)).
package struct CertificateVariables: Sendable, Hashable {
    /// The path of a file of PEM certificates; `nil` if the variable is not set.
    package var file: String?
    /// The path of a directory of certificates, named by their hashes (openssl-rehash(1)); `nil` if the variable is not set.
    package var directory: String?

    /// The name of the variable with the file.
    package static let fileName = "SSL_CERT_FILE"
    /// The name of the variable with the directory.
    package static let directoryName = "SSL_CERT_DIR"

    /// The variables of this process. An empty value counts as not set.
    package static var ofThisProcess: CertificateVariables {
        func value(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        return CertificateVariables(file: value(fileName), directory: value(directoryName))
    }

    /// Sets the variables of this process to one path. It is called before other threads read the environment.
    /// - Parameter path: The absolute path of a file, or of a directory.
    /// - Throws: `FileError` if it cannot be read, or is neither a file nor a directory.
    package static func set(_ path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw FileError(operation: "reading the certificates", path: path, errno: errno)
        }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        guard isDirectory || status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(operation: "reading the certificates", path: path, errno: EINVAL)
        }
        setenv(isDirectory ? directoryName : fileName, path, 1)
        unsetenv(isDirectory ? fileName : directoryName)
    }
}
