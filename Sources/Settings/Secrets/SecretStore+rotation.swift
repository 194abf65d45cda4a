import Glibc
package import Model

/// A stored secret, without its value.
package struct StoredSecret: Hashable, Sendable {
    package var name: String
    /// When its file was changed last.
    package var changedAt: Timestamp
    /// Whether it is one of systemd's credentials, which the service cannot change.
    package var isCredential: Bool
    /// The end of a rotation's overlap; `nil` if no overlap runs.
    package var overlapEnd: Timestamp?
}

/// Listing, removal and rotation of secrets.
///
/// A rotation keeps the value before it in a file of its own, `.NAME.previous`: the end of the overlap in milliseconds since 1970, a line feed, and
/// the value. Each reader compares the end with its clock, so no process has to run for an overlap to end.
extension SecretStore {
    /// The longest overlap of a rotation.
    package static let longestOverlap: Duration = .seconds(30 * 86_400)
    /// The overlap of a rotation that names none.
    package static let usualOverlap: Duration = .seconds(86_400)
    /// The most secrets of one directory that are listed.
    package static let maximumListed = 10_000

    private static let previousEnding = ".previous"

    /// The name of the file with the value before a rotation. It begins with a dot, so it is no secret's name.
    static func previousFile(of name: String) -> String { ".\(name)\(previousEnding)" }

    /// Returns the secrets of the settings' directory and systemd's credentials, in the order of their names. A name in both is the directory's,
    /// whose value counts. It blocks.
    /// - Throws: `unreadable` if a directory cannot be read. A missing directory is empty.
    package func list(at now: Timestamp) throws(SettingsError) -> [StoredSecret] {
        var secrets: [StoredSecret] = []
        for (place, isCredential) in [(directory, false), (credentialsDirectory, true)] {
            guard let place else { continue }
            for name in try Self.entries(of: place) where Self.isName(name) {
                // A link's target counts, because `value(_:)` follows links.
                guard let status = try? SystemFile.status(FilePath.join(place, name)),
                    status.st_mode & S_IFMT == S_IFREG, !secrets.contains(where: { $0.name == name })
                else { continue }
                secrets.append(
                    StoredSecret(
                        name: name, changedAt: Timestamp(secondsSinceEpoch: Int64(status.st_mtim.tv_sec)),
                        isCredential: isCredential, overlapEnd: previous(of: name, at: now)?.end))
            }
        }
        return secrets.sorted { $0.name < $1.name }
    }

    /// Removes a secret from the settings' directory, and the value before a rotation.
    /// - Returns: Whether there was such a secret.
    package func remove(_ name: String) throws(SettingsError) -> Bool {
        let operation = "remove secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        guard let directory else { throw Self.noDirectory(operation) }
        let hadPrevious = try removeFile(Self.previousFile(of: name), in: directory, operation)
        let isRemoved = try removeFile(name, in: directory, operation)
        if hadPrevious || isRemoved { try Self.synchronize(directory, operation) }
        return isRemoved
    }

    /// Stores a new value of a secret. The value before stays acceptable until `end`. An overlap that runs already ends.
    /// - Parameter end: The end of the overlap; `nil` for none.
    /// - Throws: `badValue` if there is no value before, or if it equals the new one. Nothing is changed then.
    package func rotate(
        _ name: String, _ value: String, acceptingPreviousUntil end: Timestamp?
    ) throws(SettingsError) {
        let operation = "rotate secret \(Printable.quoted(name))"
        guard let directory else { throw Self.noDirectory(operation) }
        let own = SecretStore(directory: directory, credentialsDirectory: nil)
        guard let old = try own.value(name) else {
            throw SettingsError(
                code: .badValue, operation: operation,
                message: "there is no value to replace in \(directory); store one with `martlet secret set \(name)`")
        }
        let new = Self.withoutLineEnd(Array(value.utf8))
        guard new != Array(old.utf8) else {
            throw SettingsError(
                code: .badValue, operation: operation, message: "the new value is the present one; write another")
        }
        try Self.check(new, operation)
        guard let end else { return try set(name, value) }
        let file = Self.previousFile(of: name)
        // Before the new value, so that the value before is accepted at every moment.
        try write(Array("\(end.millisecondsSinceEpoch)\n\(old)".utf8), as: file, in: directory, operation)
        do {
            try write(new + [0x0A], as: name, in: directory, operation)
        } catch {
            _ = try? removeFile(file, in: directory, operation)
            throw error
        }
    }

    /// Ends the overlap of a rotation.
    /// - Returns: Whether an overlap ran.
    package func endOverlap(of name: String, at now: Timestamp) throws(SettingsError) -> Bool {
        let operation = "end the overlap of secret \(Printable.quoted(name))"
        guard Self.isName(name) else { throw Self.badName(operation) }
        guard let directory else { throw Self.noDirectory(operation) }
        let ran = previous(of: name, at: now) != nil
        if try removeFile(Self.previousFile(of: name), in: directory, operation) {
            try Self.synchronize(directory, operation)
        }
        return ran
    }

    /// Removes the values before rotations whose overlap has ended. They are not accepted anyway, so failures are ignored.
    package func removeEndedValues(at now: Timestamp) {
        guard let directory, let names = try? Self.entries(of: directory) else { return }
        for file in names where file.hasPrefix(".") && file.hasSuffix(Self.previousEnding) {
            let name = String(file.dropFirst().dropLast(Self.previousEnding.count))
            guard Self.isName(name), previous(of: name, at: now) == nil else { continue }
            unlink(FilePath.join(directory, file))
        }
    }

    /// Returns the values that a webhook may be signed with: the secret's, and during an overlap the one before. Empty if there is no such secret.
    /// - Throws: The errors of `value(_:)`.
    package func acceptedValues(_ name: String, at now: Timestamp) throws(SettingsError) -> [String] {
        guard let value = try value(name) else { return [] }
        guard let previous = previous(of: name, at: now)?.value, previous != value,
            isWithheldValue?(previous) != true
        else { return [value] }
        return [value, previous]
    }

    /// Returns the end of the overlap of a secret's rotation; `nil` if no overlap runs.
    package func overlapEnd(of name: String, at now: Timestamp) -> Timestamp? { previous(of: name, at: now)?.end }

    /// Returns the value before a rotation while its overlap runs. A file that is damaged, that others may read, or whose end is further away than
    /// the longest overlap counts as none.
    private func previous(of name: String, at now: Timestamp) -> (value: String, end: Timestamp)? {
        guard let directory,
            let file = try? SystemFile.read(
                FilePath.join(directory, Self.previousFile(of: name)), limit: Self.maximumSize + 32),
            file.status.st_mode & 0o077 == 0, let text = String(validating: file.bytes, as: UTF8.self),
            let line = text.firstIndex(of: "\n"), let milliseconds = Int64(text[..<line])
        else { return nil }
        let end = Timestamp(millisecondsSinceEpoch: milliseconds)
        let value = String(text[text.index(after: line)...])
        guard now < end, end - now <= Self.longestOverlap, (try? Self.check(Array(value.utf8), "read")) != nil else {
            return nil
        }
        return (value, end)
    }

    /// Removes a file of the directory.
    /// - Returns: Whether there was such a file.
    @discardableResult
    func removeFile(_ name: String, in directory: String, _ operation: String) throws(SettingsError) -> Bool {
        let path = FilePath.join(directory, name)
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else {
            throw SettingsError(
                code: .unwritable, operation: operation,
                message: "removing \(path) failed: \(String(cString: strerror(errno)))")
        }
        return false
    }

    private static func entries(of directory: String) throws(SettingsError) -> [String] {
        guard let stream = opendir(directory) else {
            if errno == ENOENT { return [] }
            throw SettingsError(
                code: .unreadable, operation: "list the secrets",
                message: "\(directory): \(String(cString: strerror(errno))); run it as the service's user or root")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < maximumListed, let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    static func noDirectory(_ operation: String) -> SettingsError {
        SettingsError(
            code: .notConfigured, operation: operation,
            message: "the settings name no directory for secrets; add `secrets: /etc/martlet/secrets`")
    }
}
