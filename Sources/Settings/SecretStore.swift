import Glibc

/// The secrets that bot files name: one file each, in the settings' directory or among systemd's credentials.
///
/// A value is read each time it is needed and kept nowhere; it appears in no error.
package struct SecretStore: Sendable {
    /// The most bytes of one secret.
    package static let maximumSize = 64 << 10
    /// The most secrets of one directory that are listed.
    static let maximumCount = 4096

    private let directory: String?
    private let credentialsDirectory: String?
    private var withheld: Set<String> = []
    private var isWithheldValue: (@Sendable (_ value: String) -> Bool)?

    /// - Parameters:
    ///   - directory: The settings' `secrets`.
    ///   - credentialsDirectory: `$CREDENTIALS_DIRECTORY` (systemd.exec(5), "Credentials"), read second.
    package init(directory: String?, credentialsDirectory: String?) {
        self.directory = directory
        self.credentialsDirectory = credentialsDirectory
    }

    /// The same secrets but one, which is the service's own: no bot file can name it for a job, a script or an upload.
    package func withholding(_ name: String?) -> SecretStore {
        var store = self
        if let name { store.withheld.insert(name) }
        return store
    }

    /// The same secrets without those whose value says so, whatever they are called: a key that signed once vouches also when the
    /// settings name another by now.
    /// - Parameter isWithheld: Asked each time that a secret is read; it may read a small file.
    package func withholding(values isWithheld: @escaping @Sendable (_ value: String) -> Bool) -> SecretStore {
        var store = self
        store.isWithheldValue = isWithheld
        return store
    }

    /// Whether a text is a secret's name: `[A-Za-z0-9._-]{1,64}`, without a leading dot.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "._-".utf8.contains($0)
            }
    }

    /// The environment variable that a trigger's script gets a secret in: `office-token` → `MARTLET_SECRET_OFFICE_TOKEN`.
    /// The prefix keeps every secret's name apart from variables that change how programs are found and loaded.
    package static func variable(for name: String) -> String {
        let bytes = name.uppercased().utf8.map { "._-".utf8.contains($0) ? UInt8(ascii: "_") : $0 }
        return "MARTLET_SECRET_" + String(decoding: bytes, as: UTF8.self)
    }

    /// A secret's value, without one newline at its end; nothing when there is none of that name.
    ///
    /// The directory given in the settings comes first. Blocks for as long as reading a small file does.
    /// - Throws: When the file cannot be read, others may read it, or its value is empty, too long or no UTF-8: an empty
    ///   secret would let everyone in.
    package func value(_ name: String) throws(SettingsError) -> String? { try find(name)?.value }

    /// The absolute path of a secret's file, for programs and libraries that only take one (known hosts, keys); nothing
    /// when there is none of that name.
    /// - Throws: What `value(_:)` throws: a file that others may read is no secret.
    package func file(_ name: String) throws(SettingsError) -> String? { try find(name)?.path }

    private func find(_ name: String) throws(SettingsError) -> (path: String, value: String)? {
        let operation = "read secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        guard !withheld.contains(name) else {
            throw SettingsError(
                code: .withheld, operation: operation,
                message: "the settings name it under `signing`: it signs versions, and no bot is given it")
        }
        // systemd makes its own 0400, or 0440 with an access control list for the service's user, beneath a directory that
        // only it can enter, so their mode says nothing.
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

    /// The names of all secrets, sorted. Files whose names are no secret's are left out.
    package func names() throws(SettingsError) -> [String] {
        var names: Set<String> = []
        for path in [directory, credentialsDirectory].compactMap({ $0 }) {
            do {
                names.formUnion(try SystemFile.names(in: path, limit: Self.maximumCount).filter(Self.isName))
            } catch  where error.isMissing {
                continue
            } catch {
                throw SettingsError(
                    code: .unreadable, operation: "list secrets in \(path)",
                    message: "\(error.reason); let the service's user read the directory", underlying: error)
            }
        }
        return names.sorted()
    }

    /// Stores a secret in the settings' directory, mode 0600, whole or not at all; replaces one of the same name.
    ///
    /// Makes the directory, mode 0700, when it is missing. Called by root, it gives the file to the directory's owner. One newline (LF, or CR and LF) at the value's end is not part of it.
    package func set(_ name: String, _ value: String) throws(SettingsError) {
        let operation = "store secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        guard let directory else {
            throw SettingsError(
                code: .notConfigured, operation: operation,
                message: "the settings name no directory for secrets; add `secrets: /etc/martlet/secrets`")
        }
        let kept = Self.withoutLineEnd(Array(value.utf8))
        try Self.check(kept, operation)
        func failure(_ what: String) -> SettingsError {
            let reason = String(cString: strerror(errno))
            return SettingsError(code: .unwritable, operation: operation, message: "\(what) failed: \(reason)")
        }
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw failure("making \(directory)") }
        // A leading dot: never a secret's name, so a torn file is never read as one.
        let temporary = FilePath.join(directory, ".\(name).\(getpid()).\(UInt64.random(in: 0 ... .max))")
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("writing in \(directory)") }
        // As root, the file goes to the directory's owner: the service does not run as root, and must read it.
        var owner = stat()
        var isOwned = true
        if geteuid() == 0 {
            isOwned = stat(directory, &owner) == 0 && fchown(descriptor, owner.st_uid, owner.st_gid) == 0
        }
        var isWritten = isOwned && Self.write(kept + [0x0A], to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        isWritten = isWritten && rename(temporary, FilePath.join(directory, name)) == 0
        guard isWritten else {
            let error = failure("writing in \(directory)")
            unlink(temporary)
            throw error
        }
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("opening \(directory)") }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure("synchronizing \(directory)") }
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
                message: "\(path): \(error.reason); it is a file that the service's user can read", underlying: error)
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

    /// One line end, LF or CR and LF, is an editor's. Of bytes: to a `String` both together are one character.
    private static func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.last == 0x0A else { return bytes }
        let line = bytes.dropLast()
        return Array(line.last == 0x0D ? line.dropLast() : line)
    }

    private static func check(_ bytes: [UInt8], _ operation: String) throws(SettingsError) {
        func bad(_ what: String) -> SettingsError {
            SettingsError(code: .badValue, operation: operation, message: what)
        }
        if bytes.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            throw bad("the value is empty; store one with `martlet secret set NAME`")
        }
        if bytes.count > maximumSize { throw bad("the value has more than \(maximumSize) bytes") }
        // Within a secret escapes count for nothing where it is looked for in a log, so one that begins with them would not be found.
        if bytes.contains(0x1B) {
            throw bad("the value has an escape character (ESC); encode it, for example with base64")
        }
        if bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil {
            throw bad("the value is no UTF-8 text without NUL; encode it, for example with base64")
        }
    }

    private static func badName(_ operation: String) -> SettingsError {
        SettingsError(
            code: .badName, operation: operation,
            message: "a secret's name has letters, digits, `.`, `_`, `-`, at most 64, and no dot first")
    }
}
