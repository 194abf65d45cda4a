import Encodings
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
    /// - Throws: `FileError` if it cannot be read, is neither a file nor a directory, or has no certificate.
    package static func set(_ path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw FileError(operation: "reading the certificates", path: path, errno: errno)
        }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        guard isDirectory || status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(operation: "reading the certificates", path: path, errno: EINVAL)
        }
        try isDirectory ? checkDirectory(path) : checkFile(path)
        setenv(isDirectory ? directoryName : fileName, path, 1)
        unsetenv(isDirectory ? fileName : directoryName)
    }

    /// The largest file, in bytes. The list of all public authorities has 0.2 MB.
    private static let maximumBytes = 16 << 20

    private static func checkFile(_ path: String) throws(FileError) {
        guard hasCertificate(try WholeFile.read(path, limit: maximumBytes)) else {
            throw FileError(
                code: .other, operation: "reading the certificates", path: path,
                message: "it has no certificate in the PEM form (-----BEGIN CERTIFICATE-----)")
        }
    }

    /// OpenSSL reads only files that are named by the hash of their certificate, such as `4a6481c9.0`.
    private static func checkDirectory(_ path: String) throws(FileError) {
        for entry in try Directory(opening: path).entries() where entry.isText {
            let parts = entry.name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 8, parts[0].allSatisfy(\.isHexDigit), Int(parts[1]) != nil
            else { continue }
            // One that cannot be read does not make the others useless.
            if let bytes = try? WholeFile.read("\(path)/\(entry.name)", limit: maximumBytes), hasCertificate(bytes) {
                return
            }
        }
        throw FileError(
            code: .other, operation: "reading the certificates", path: path,
            message: "it has no certificate that is named by its hash")
    }

    /// Returns whether a text has a whole certificate in the PEM form (RFC 7468). The certificate itself is not examined.
    static func hasCertificate(_ bytes: [UInt8]) -> Bool {
        var content: String?
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = line.filter { !$0.isWhitespace || $0 == " " }
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("CERTIFICATE-----") {
                content = ""
            } else if line.hasPrefix("-----END ") {
                if let content, let bytes = Base64.decode(content), isWholeSequence(bytes) { return true }
                content = nil
            } else {
                content?.append(contentsOf: line.filter { $0 != " " })
            }
        }
        return false
    }

    /// Returns whether bytes begin with a whole sequence in DER (X.690, 8.1), as a certificate is.
    private static func isWholeSequence(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 2, bytes[0] == 0x30 else { return false }
        guard bytes[1] & 0x80 != 0 else { return bytes.count - 2 >= Int(bytes[1]) }
        let count = Int(bytes[1] & 0x7F)
        guard (1...4).contains(count), bytes.count >= 2 + count else { return false }
        let length = bytes[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count - 2 - count >= length
    }
}
