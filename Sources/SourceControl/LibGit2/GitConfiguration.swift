import CLibGit2
import Glibc

/// The rules of the operator's git configuration about URLs: `url.<base>.insteadOf` (git-config(1)). The rest of the configuration is ignored.
package struct GitConfiguration: Sendable, Hashable {
    /// The paths of the files, which are read in this order. At most four; missing ones are skipped.
    package let files: [String]

    package init(files: [String]) { self.files = files }

    /// Returns the system's and the account's files: `/etc/gitconfig`, `$XDG_CONFIG_HOME/git/config`, `~/.gitconfig`.
    package static func usual(home: String?, xdgConfigHome: String?) -> GitConfiguration {
        let xdg = xdgConfigHome ?? home.map { $0 + "/.config" }
        return GitConfiguration(
            files: ["/etc/gitconfig"]
                + [xdg.map { $0 + "/git/config" }, home.map { $0 + "/.gitconfig" }].compactMap(\.self))
    }

    /// The usual files of this process's environment.
    package static var ofThisAccount: GitConfiguration {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        return usual(home: variable("HOME"), xdgConfigHome: variable("XDG_CONFIG_HOME"))
    }

    /// Returns the URL that git would use: if a value of `insteadOf` is a prefix of `url`, the longest one is replaced by its base.
    func rewritten(_ url: String) throws(SourceControlError) -> String {
        try LibGit2.start()
        let operation = "reading url.*.insteadOf"
        let configuration = try GitHandle(operation, free: git_config_free) { git_config_new($0) }
        // A level holds one file. For the same base, a later level takes precedence over an earlier one.
        let levels = [GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_LOCAL]
        for (file, level) in zip(files, levels) where access(file, R_OK) == 0 {
            do throws(SourceControlError) {
                try git(operation) { git_config_add_file_ondisk(configuration.pointer, file, level, nil, 1) }
            } catch {
                throw SourceControlError(
                    code: .file, operation: "\(operation) in \(file)", message: error.message, underlying: error)
            }
        }
        return try Self.rewritten(url, by: configuration.pointer, operation) ?? url
    }

    private static func rewritten(_ url: String, by configuration: OpaquePointer, _ operation: String)
        throws(SourceControlError) -> String?
    {
        // This does not use a pattern: libgit2 1.5.1 with PCRE2 leaks memory for every name that does not match one.
        var iterator: OpaquePointer?
        try git(operation) { git_config_iterator_new(&iterator, configuration) }
        defer { git_config_iterator_free(iterator) }
        var best: (prefix: String, base: String)?
        var entry: UnsafeMutablePointer<git_config_entry>?
        while true {
            let result = git_config_next(&entry, iterator)
            if result == GIT_ITEROVER.rawValue { break }
            try git(operation) { result }
            guard let entry, let name = entry.pointee.name, let value = entry.pointee.value else { continue }
            // Section and variable names come in lower case, whatever the file contains.
            let key = String(cString: name)
            guard key.hasPrefix("url."), key.dropFirst("url.".count).hasSuffix(".insteadof") else { continue }
            let prefix = String(cString: value)
            let base = String(key.dropFirst("url.".count).dropLast(".insteadof".count))
            guard !prefix.isEmpty, url.hasPrefix(prefix), prefix.count > (best?.prefix.count ?? 0) else { continue }
            best = (prefix, base)
        }
        return best.map { $0.base + url.dropFirst($0.prefix.count) }
    }
}
