import Glibc

/// The secrets that bot files name: one file each, in the settings' directory or among systemd's credentials.
///
/// A value is read each time it is needed and is not cached. It appears in no error.
package struct SecretStore: Sendable {
    /// The most bytes of one secret.
    package static let maximumSize = 64 << 10

    let directory: String?
    let credentialsDirectory: String?
    /// The settings' keys that name the withheld secrets, by the secrets' names.
    private var withheld: [String: String] = [:]
    private(set) var isWithheldValue: (@Sendable (_ value: String) -> Bool)?

    /// - Parameters:
    ///   - directory: The settings' `secrets`; `nil` if there is none.
    ///   - credentialsDirectory: `$CREDENTIALS_DIRECTORY` (systemd.exec(5), "Credentials"), which is read second; `nil` if there is none.
    package init(directory: String?, credentialsDirectory: String?) {
        self.directory = directory
        self.credentialsDirectory = credentialsDirectory
    }

    /// Returns the store without one secret of the service's own, so that no bot file can use it for a job, a script or an upload.
    /// - Parameters:
    ///   - name: The secret's name; `nil` withholds none.
    ///   - key: The settings' key that names it, for messages.
    package func withholding(_ name: String?, of key: String) -> SecretStore {
        var store = self
        if let name { store.withheld[name] = key }
        return store
    }

    /// Returns the store without the secrets whose values `isWithheld` rejects, regardless of their names. A former signing key still signs valid
    /// versions, even if the settings now name another.
    /// - Parameter isWithheld: Returns whether a value is withheld. It is called each time a secret is read, and may read a small file.
    package func withholding(values isWithheld: @escaping @Sendable (_ value: String) -> Bool) -> SecretStore {
        var store = self
        store.isWithheldValue = isWithheld
        return store
    }

    /// Returns whether a text is a secret's name: `[A-Za-z0-9._-]{1,64}`, without a leading dot.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "._-".utf8.contains($0)
            }
    }

    /// Returns the environment variable that holds a secret for a trigger's script: `office-token` → `MARTLET_SECRET_OFFICE_TOKEN`. The prefix keeps
    /// names of secrets from setting variables that change how programs are found and loaded.
    package static func variable(for name: String) -> String {
        let bytes = name.uppercased().utf8.map { "._-".utf8.contains($0) ? UInt8(ascii: "_") : $0 }
        return "MARTLET_SECRET_" + String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a secret's value, without one line end at its end; `nil` if there is none of that name.
    ///
    /// The settings' directory is searched first. It blocks for as long as reading a small file takes.
    /// - Throws: If the file cannot be read, others may read it, its value is empty, too long or not UTF-8, or the secret is withheld. An empty
    ///   secret would admit everybody.
    package func value(_ name: String) throws(SettingsError) -> String? { try find(name)?.value }

    /// Returns the absolute path of a secret's file, for programs and libraries that accept only a path (known hosts, keys); `nil` if there is none
    /// of that name.
    /// - Throws: The errors of `value(_:)`: a file that others may read is no secret.
    package func file(_ name: String) throws(SettingsError) -> String? { try find(name)?.path }

    private func find(_ name: String) throws(SettingsError) -> (path: String, value: String)? {
        let operation = "read secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        if let key = withheld[name] {
            throw SettingsError(
                code: .withheld, operation: operation,
                message: "the settings name it under `\(key)`: it is the service's own, and no bot is given it")
        }
        // systemd's credentials have mode 0400, or 0440 with an access control list for the service's user. Their directory is only accessible to it,
        // so the mode is not checked.
        for (directory, isOwn) in [(directory, true), (credentialsDirectory, false)] {
            guard let directory else { continue }
            let path = FilePath.join(directory, name)
            guard let value = try Self.read(path, operation, isOwn: isOwn) else { continue }
            guard isWithheldValue?(value) != true else {
                throw SettingsError(
                    code: .withheld, operation: operation,
                    message: "it is a key that versions were signed with, and no bot is given it; remove the file")
            }
            return (path, value)
        }
        return nil
    }

    /// Stores a secret in the settings' directory with mode 0600, and replaces one of the same name. It is stored completely or not at all. A running
    /// overlap of a rotation ends.
    ///
    /// The directory is created with mode 0700 if it is missing. If root calls it, the file gets the directory's owner. One newline (LF, or CR and
    /// LF) at the value's end is not part of it.
    package func set(_ name: String, _ value: String) throws(SettingsError) {
        let operation = "store secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        guard let directory else {
            throw Self.noDirectory(operation)
        }
        let kept = Self.withoutLineEnd(Array(value.utf8))
        try Self.check(kept, operation)
        // Before the new value: a value that is replaced this way may have been stolen, so it is never accepted again.
        try removeFile(Self.previousFile(of: name), in: directory, operation)
        try write(kept + [0x0A], as: name, in: directory, operation)
    }

    /// Writes a file of the directory with mode 0600, completely or not at all. The directory is created if it is missing.
    func write(
        _ bytes: [UInt8], as name: String, in directory: String, _ operation: String
    ) throws(SettingsError) {
        func failure(_ what: String) -> SettingsError {
            let reason = String(cString: strerror(errno))
            return SettingsError(code: .unwritable, operation: operation, message: "\(what) failed: \(reason)")
        }
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw failure("making \(directory)") }
        // A secret's name never begins with a dot, so an incomplete file is never read as a secret.
        let temporary = FilePath.join(directory, ".\(name).\(getpid()).\(UInt64.random(in: 0 ... .max))")
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("writing in \(directory)") }
        // If root calls this, the file gets the directory's owner: the service does not run as root, and must read it.
        var owner = stat()
        var isOwned = true
        if geteuid() == 0 {
            isOwned = stat(directory, &owner) == 0 && fchown(descriptor, owner.st_uid, owner.st_gid) == 0
        }
        var isWritten = isOwned && Self.write(bytes, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        isWritten = isWritten && rename(temporary, FilePath.join(directory, name)) == 0
        guard isWritten else {
            let error = failure("writing in \(directory)")
            unlink(temporary)
            throw error
        }
        try Self.synchronize(directory, operation)
    }

    /// Makes the directory's entries survive a power failure.
    static func synchronize(_ directory: String, _ operation: String) throws(SettingsError) {
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if parent >= 0 { close(parent) } }
        guard parent >= 0, fsync(parent) == 0 else {
            throw SettingsError(
                code: .unwritable, operation: operation,
                message: "synchronizing \(directory) failed: \(String(cString: strerror(errno)))")
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func read(_ path: String, _ operation: String, isOwn: Bool) throws(SettingsError) -> String? {
        let file: (bytes: [UInt8], status: stat)
        do {
            file = try SystemFile.read(path, limit: maximumSize + 1)
        } catch  where error.isMissing {
            return nil
        } catch {
            throw SettingsError(
                code: .unreadable, operation: operation,
                message: "\(path): \(error.reason); make it a file that the service's user can read", underlying: error)
        }
        if isOwn, file.status.st_mode & 0o077 != 0 {
            throw SettingsError(
                code: .readableByOthers, operation: operation,
                message: "\(path) can be read or written by others than its owner; run `chmod 600 \(path)`")
        }
        let bytes = withoutLineEnd(file.bytes)
        try check(bytes, operation)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes one line end, LF or CR and LF, which editors add. It works on bytes, because CR and LF are one `Character` of a `String`.
    static func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.last == 0x0A else { return bytes }
        let line = bytes.dropLast()
        return Array(line.last == 0x0D ? line.dropLast() : line)
    }

    static func check(_ bytes: [UInt8], _ operation: String) throws(SettingsError) {
        func bad(_ what: String) -> SettingsError {
            SettingsError(code: .badValue, operation: operation, message: what)
        }
        if bytes.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            throw bad("the value is empty; store one with `martlet secret set NAME`")
        }
        if bytes.count > maximumSize { throw bad("the value has more than \(maximumSize) bytes; store a shorter one") }
        // Escape sequences are ignored when a log is searched for secrets, so a secret that begins with one would not be found.
        if bytes.contains(0x1B) {
            throw bad("the value has an escape character (ESC); encode it, for example with base64")
        }
        if bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil {
            throw bad("the value is not UTF-8 text without NUL; encode it, for example with base64")
        }
    }

    static func badName(_ operation: String) -> SettingsError {
        SettingsError(
            code: .badName, operation: operation,
            message: "a secret's name has letters, digits, `.`, `_`, `-`, at most 64, and no dot first")
    }
}

/// An error of this library. Errors in a file that users wrote are `Diagnostic`s instead.
package struct SettingsError: Error, CustomStringConvertible {
    /// The kind of error, for code that distinguishes cases.
    package enum Code: String, Sendable, CaseIterable {
        /// No directory of secrets is configured.
        case notConfigured
        /// The name is not a secret's name.
        case badName
        /// Users other than the file's owner may read or write it.
        case readableByOthers
        /// The secret is empty, too long, contains ESC or NUL, or is not UTF-8 text.
        case badValue
        /// The secret is reserved for the service, and was requested on behalf of a bot.
        case withheld
        /// The system refused to read or write.
        case unreadable, unwritable
    }

    package var code: Code
    /// The failed operation, such as `read secret kit-webhook`.
    package var operation: String
    /// What happened and what to do. It never contains a secret's value.
    package var message: String
    package var underlying: (any Error)?

    package init(code: Code, operation: String, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.operation = operation
        self.message = message
        self.underlying = underlying
    }

    package var description: String { "\(operation): \(message)" }
}
