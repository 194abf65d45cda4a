import Basics
import Glibc

/// The empty repository in which `git` runs, in the mirror's directory. It has its own configuration, the only one that git reads, and copies of the
/// mirror's refs, which tell the server which commits are here.
struct GitScratch {
    let program: GitProgram
    let store: MirrorStore
    let path: String

    /// Creates the repository again, so that no files of an earlier operation are left.
    /// - Parameter refs: The lines of its `packed-refs`.
    init(_ program: GitProgram, store: MirrorStore, refs: String = "", operation: String) throws(SourceControlError) {
        self.program = program
        self.store = store
        path = store.path + "/martlet-git"
        try files(operation) { () throws(FileError) in
            let directory = try Directory(creating: path, mode: 0o700)
            try directory.removeContents()
            for name in ["refs", "objects"] { try directory.makeDirectories(name) }
            try directory.write("HEAD", bytes: Array("ref: refs/heads/none\n".utf8))
            try directory.write("config", bytes: Array("[core]\n\trepositoryformatversion = 0\n\tbare = true\n".utf8))
            if !refs.isEmpty { try directory.write("packed-refs", bytes: Array(refs.utf8)) }
        }
    }

    func remove(_ operation: String) throws(SourceControlError) {
        try files(operation) { () throws(FileError) in try Directory(opening: store.path).remove("martlet-git") }
    }

    /// The configuration that git reads in place of all configuration of the machine and the account.
    static let configuration = """
        [core]
        \thooksPath = /dev/null
        \tfsmonitor = false
        \tfsync = none
        \tbigFileThreshold = 32m
        \tpackedGitLimit = 1g
        \tpackedGitWindowSize = 256m
        [credential]
        \thelper =
        \tuseHttpPath = false
        [fetch]
        \tunpackLimit = 1
        \trecurseSubmodules = false
        \twriteCommitGraph = false
        [gc]
        \tauto = 0
        [http]
        \tfollowRedirects = false
        \tsslVersion = tlsv1.2
        \tsslVerify = true
        [maintenance]
        \tauto = false
        [protocol]
        \tversion = 2
        [safe]
        \tdirectory = *
        [submodule]
        \trecurse = false
        [transfer]
        \tbundleURI = false

        """

    /// Returns a value in the quoted form of git's configuration.
    static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Runs git.
    /// - Parameters:
    ///   - more: A text that is appended to the configuration.
    ///   - memory: The contents of descriptors 3, 4 and so on of git and of the programs that it starts.
    ///   - isQuiet: Whether it works locally without output. Then there is no limit for silence or the size of a file.
    func run(
        _ arguments: [String], _ operation: String, control: NetworkControl?, more: String = "",
        environment added: [String: String] = [:], memory: [[UInt8]] = [], isQuiet: Bool = false,
        addressBytes: Int64 = NetworkLimits.programMemory
    ) throws(SourceControlError) -> ChildProcess.Result {
        try files(operation) { () throws(FileError) in
            try Directory(opening: path).write("gitconfig", bytes: Array((Self.configuration + more).utf8))
        }
        let above = program.path.lastIndex(of: "/").map { String(program.path[..<$0]) } ?? ""
        var environment = [
            "PATH": "\(above):/usr/local/bin:/usr/bin:/bin", "HOME": path, "LC_ALL": "C", "GIT_DIR": path,
            "GIT_OBJECT_DIRECTORY": store.path + "/objects", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": path + "/gitconfig", "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1",
        ]
        environment.merge(added) { $1 }
        return try ChildProcess(
            arguments: [program.path] + arguments, environment: environment, directory: path, memory: memory,
            fileBytes: isQuiet ? nil : control?.bytes, addressBytes: addressBytes,
            isQuiet: isQuiet
        ).run(operation, control: control)
    }
}
