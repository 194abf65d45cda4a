import Basics
import CLibGit2

/// Errors about repository formats that cannot be read.
enum RepositoryFormat {
    /// Whether libgit2 has refused a format, as opposed to missing or damaged files. The format is that of a repository (class REPOSITORY) or of an
    /// index (class INDEX).
    static func isRefused(by error: SourceControlError) -> Bool {
        guard let failure = error.underlying as? GitFailure else { return false }
        return [GIT_ERROR_REPOSITORY, GIT_ERROR_INDEX].contains { Int32($0.rawValue) == failure.errorClass }
    }

    /// Returns the error for a repository that cannot be read.
    /// - Parameters:
    ///   - git: The `git` command that could not read it, either; `nil` if none is installed.
    ///   - said: The output of git.
    static func refusal(
        of directory: String, _ operation: String, git: GitProgram?, _ refusal: SourceControlError, said: String = ""
    ) -> SourceControlError {
        let extensions = extensions(of: directory)
        let names = extensions.keys.sorted()
        let what: String
        if extensions["objectformat"] == "sha256" {
            return SourceControlError(
                code: .unsupported, operation: operation,
                message:
                    "\(directory) names its objects by SHA-256 (extensions.objectFormat), which Martlet does not support; make a "
                    + "repository with SHA-1 of it (`git fast-export --all | git -C NEW fast-import`)",
                underlying: refusal)
        }
        if !names.isEmpty {
            what =
                "\(directory) is a repository of a newer format ("
                + names.map { "extensions.\($0)" }.joined(separator: ", ") + ")"
        } else if version(of: directory) > 1 {
            what =
                "\(directory) is a repository of a newer format (core.repositoryFormatVersion \(version(of: directory)))"
        } else {
            what = "\(directory) has a repository that cannot be read"
        }
        let words = said.split(separator: "\n").first.map { String($0.prefix(300)) } ?? refusal.message
        let reader = git.map { "git \($0.version)" } ?? "libgit2 \(LibGit2.version)"
        var advice = "look at it with `git -C \(directory) status`"
        if let git {
            if !names.isEmpty || version(of: directory) > 1 {
                advice = "install a git newer than \(git.version) here, or set the extension back"
                if extensions["refstorage"] == "reftable" {
                    advice = "install git 2.45 or newer here, or run `git refs migrate --ref-format=files` there"
                }
            }
        } else {
            advice =
                "install git \(GitProgram.oldest.map(String.init).joined(separator: ".")) or newer, which reads more than libgit2"
        }
        return SourceControlError(
            code: git == nil || !names.isEmpty || version(of: directory) > 1 ? .unsupported : .other,
            operation: operation, message: "\(what): \(reader) does not read it (\(words)); \(advice)",
            underlying: refusal)
    }

    /// Returns the repository's own extensions, by name in lower case (git-config(1), "extensions").
    static func extensions(of directory: String) -> [String: String] {
        var found: [String: String] = [:]
        for (key, value) in settings(of: directory) where key.hasPrefix("extensions.") {
            found[String(key.dropFirst("extensions.".count))] = value.lowercased()
        }
        return found
    }

    private static func version(of directory: String) -> Int {
        settings(of: directory).last { $0.0 == "core.repositoryformatversion" }.flatMap { Int($0.1) } ?? 0
    }

    private static func settings(of directory: String) -> [(String, String)] {
        for place in ["\(directory)/.git", directory] {
            let file = place + "/config"
            guard (try? WholeFile.read(file, limit: 1 << 20)) != nil else { continue }
            var (configuration, iterator): (OpaquePointer?, OpaquePointer?) = (nil, nil)
            defer {
                git_config_iterator_free(iterator)
                git_config_free(configuration)
            }
            guard git_config_open_ondisk(&configuration, file) == 0,
                git_config_iterator_new(&iterator, configuration) == 0
            else { return [] }
            var (entry, found): (UnsafeMutablePointer<git_config_entry>?, [(String, String)]) = (nil, [])
            while git_config_next(&entry, iterator) == 0 {
                guard let entry, let name = entry.pointee.name else { continue }
                found.append((String(cString: name), entry.pointee.value.map { String(cString: $0) } ?? "true"))
            }
            return found
        }
        return []
    }
}
