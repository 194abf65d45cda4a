import Subprocess
import SystemPackage

/// What systemd says about one of its units.
package struct SystemdUnit: Sendable, Hashable {
    /// Why a unit cannot be described.
    package enum Absence: Error, Hashable, Sendable {
        /// systemd does not run on this machine, or does not answer this user.
        case systemd
        /// systemd has no unit of that name.
        case unit
    }

    /// The state in systemd's words: `active`, `inactive`, `failed`, `activating`, `deactivating`, `reloading`.
    package var state: String
    /// How its last run ended, such as `success`, `exit-code` or `signal`.
    package var result: String
    /// The exit status of its last run; `nil` if systemd does not say it.
    package var exitStatus: Int?
    /// Whether its file changed since systemd read it.
    package var isOutdated: Bool
    /// Whether it starts with the machine.
    package var isEnabled: Bool
    /// The command of its service, with its arguments; empty for a socket.
    package var command: String
    /// The variables that its file sets.
    package var environment: [String: String]
    /// The names of the credentials that it gives to its service (systemd.exec(5), "Credentials").
    package var credentials: Set<String>

    /// The size limit of systemctl's output in bytes.
    private static let outputLimit = 256 << 10
    /// The time limit of a question.
    private static let patience = Duration.seconds(10)

    /// Asks systemd about a unit, as `systemctl show` does.
    package static func ask(_ unit: String) async throws(Absence) -> SystemdUnit {
        guard let text = await systemctl(["show", "--no-pager", unit]) else { throw .systemd }
        guard let unit = SystemdUnit(text) else { throw .unit }
        return unit
    }

    /// Returns the variables that systemd gives to every service, such as `PATH`. It is empty if systemd does not answer.
    package static func commonEnvironment() async -> [String: String] {
        let text = await systemctl(["show-environment"]) ?? ""
        return variables(text.split(whereSeparator: \.isNewline).map(String.init))
    }

    private static func systemctl(_ arguments: [String]) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                // An error means that there is no systemctl, or it cannot be started.
                let result = try? await Subprocess.run(
                    .name("systemctl"), arguments: Arguments(arguments), workingDirectory: "/", input: .none,
                    output: .string(limit: outputLimit), error: .discarded)
                guard let result, result.terminationStatus.isSuccess else { return nil }
                return result.standardOutput
            }
            group.addTask {
                // Canceled when systemd has answered.
                try? await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Parses the output of `systemctl show UNIT`, a property per line.
    /// - Returns: `nil` if systemd has no such unit.
    init?(_ output: String) {
        var properties: [String: String] = [:]
        for line in output.split(whereSeparator: \.isNewline) {
            guard let mark = line.firstIndex(of: "=") else { continue }
            let (name, value) = (String(line[..<mark]), String(line[line.index(after: mark)...]))
            properties[name] = properties[name].map { $0 + " " + value } ?? value
        }
        guard properties["LoadState"] == "loaded" else { return nil }
        state = properties["ActiveState"] ?? ""
        result = properties["Result"] ?? ""
        exitStatus = properties["ExecMainStatus"].flatMap(Int.init)
        isOutdated = properties["NeedDaemonReload"] == "yes"
        isEnabled = properties["UnitFileState"]?.hasPrefix("enabled") ?? false
        command = properties["ExecStart"] ?? ""
        environment = Self.variables(Self.words(properties["Environment"] ?? ""))
        let named = ["LoadCredential", "LoadCredentialEncrypted", "SetCredential", "SetCredentialEncrypted"]
        credentials = Set(
            named.flatMap { Self.words(properties[$0] ?? "") }.map { String($0.prefix { $0 != ":" }) })
    }

    private static func variables(_ lines: [String]) -> [String: String] {
        var variables: [String: String] = [:]
        for line in lines {
            guard let mark = line.firstIndex(of: "="), mark != line.startIndex else { continue }
            variables[String(line[..<mark])] = String(line[line.index(after: mark)...])
        }
        return variables
    }

    /// Splits a property's value at blanks that are in no quotes. systemd quotes an item with `"` or `$'…'`, and writes `\` before special
    /// characters.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var (quote, isEscaped): (Character?, Bool) = (nil, false)
        for character in text {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                if word.last == "$" { word.removeLast() }
                quote = character
            } else if character == " " {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}
