/// Makes the arguments that run the text of a recipe's command.
///
/// The text ends at the first command that fails, even within a pipeline, as with GitHub Actions and GitLab. Otherwise only the last line would
/// decide, and a build whose first line fails would be green. `set +e` in the text turns that off.
package enum ShellCommand {
    /// The shell that runs a text without a first line `#!`.
    private static let shell = "/bin/sh"

    /// Runs the text, `$1`, by the shell `$0` with the options that follow. If that shell does not support `pipefail` (dash before 0.5.13, as in
    /// Debian 12), bash runs the text in its POSIX mode, as on machines where `sh` is bash. Without bash only `-e` is set.
    ///
    /// The variable has a name that no recipe can set, so it is not exported and the text does not see it.
    static let script = """
        MARTLET_COMMAND=$1; shift
        if (set -o pipefail) 2>/dev/null; then exec "$0" "$@" -e -o pipefail -c "$MARTLET_COMMAND"; fi
        if command -v bash >/dev/null; then exec bash --posix "$@" -e -o pipefail -c "$MARTLET_COMMAND"; fi
        exec "$0" "$@" -e -c "$MARTLET_COMMAND"
        """

    /// Writes the text, `$1`, to a file and runs it by the given interpreter, because not every interpreter accepts a text as an argument.
    private static let interpretation = """
        MARTLET_FILE=$(mktemp) && printf '%s\\n' "$1" >"$MARTLET_FILE" && shift && exec "$@" "$MARTLET_FILE"
        """

    /// Returns the arguments for a text.
    ///
    /// A first line `#!` names the interpreter. If that is a shell, it gets `-e` and `pipefail`, too.
    /// - Parameter shell: The shell for a text that names no interpreter.
    package static func arguments(for text: String, shell: String = shell) -> [String] {
        // A recipe in JSON or in double quotes can contain Windows line ends. A shell would take the carriage return as part of a word.
        let text = text.replacing("\r\n", with: "\n")
        if isSimple(text) { return [Self.shell, "-c", text] }
        let plain = [Self.shell, "-c", script, shell, text]
        guard let words = interpreter(of: text), let index = words.firstIndex(where: isProgram) else { return plain }
        let options = words[(index + 1)...]
        switch words[index].split(separator: "/").last {
        case "sh", "dash", "ash": return plain + options
        case "bash", "ksh", "zsh": return words[...index] + options + ["-e", "-o", "pipefail", "-c", text]
        default: return [Self.shell, "-c", interpretation, shell, text] + words
        }
    }

    /// Whether a text is one call of one program with plain words, such as `make check`. `-e` and `pipefail` do not change its result, and every
    /// shell does the same with it. So the machine's own shell runs it, without bash, whose start takes 3 ms.
    ///
    /// A path such as `./build.sh` does not count: a script without a first line `#!` is run by the shell that calls it (POSIX.1-2017, 2.9.1.1), and
    /// dash takes `[[` for a missing program.
    static func isSimple(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        guard let program = words.first, !text.contains("\n"), !program.contains("=") else { return false }
        return text.utf8.allSatisfy(isPlain) && !program.contains("/") && !builtins.contains(String(program))
    }

    /// Whether a byte has no special meaning for any shell. A tilde at the beginning of a word is a home, and a `#` there begins a comment.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: " _-+./:=,@%".utf8.contains(byte)
        }
    }

    /// Words that dash 0.5 or bash 5.2 handle themselves (dash(1), "Builtins"; bash(1), "SHELL BUILTIN COMMANDS" and "RESERVED WORDS"). `true` and
    /// `false` behave the same in each, so they are not listed.
    private static let builtins: Set<String> = [
        ".", ":", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "chdir", "command", "compgen",
        "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif", "else",
        "enable", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for", "function", "getopts", "hash",
        "help", "history", "if", "in", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf", "pushd",
        "pwd", "read", "readarray", "readonly", "return", "select", "set", "shift", "shopt", "source", "suspend",
        "test", "then", "time", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until",
        "wait", "while",
    ]

    /// Returns the text for which `arguments(for:)` made these arguments. `nil` if it did not make them, and for a simple text.
    package static func text(of arguments: [String]) -> String? {
        if arguments.count >= 5, arguments[0] == shell, arguments[1] == "-c",
            [script, interpretation].contains(arguments[2])
        {
            return arguments[4]
        }
        let ending = ["-e", "-o", "pipefail", "-c"]
        guard let text = arguments.last, text.hasPrefix("#!"), Array(arguments.dropLast().suffix(4)) == ending else {
            return nil
        }
        return text
    }

    /// Returns the words of a first line `#!`; `nil` without one.
    private static func interpreter(of text: String) -> [String]? {
        guard text.hasPrefix("#!"), let line = text.split(whereSeparator: \.isNewline).first else { return nil }
        let words = line.dropFirst(2).split(whereSeparator: \.isWhitespace).map(String.init)
        guard let program = words.first else { return nil }
        // The step's own program must be a path. A program without one would count as a tool that the service needs (`StepConsole.missingProgram`).
        return program.contains("/") ? words : ["/usr/bin/env"] + words
    }

    /// Whether a word is the interpreter, not `env` or one of its options or variables.
    private static func isProgram(_ word: String) -> Bool {
        word.split(separator: "/").last != "env" && !word.hasPrefix("-") && !word.contains("=")
    }
}
