import CLibGit2
import Glibc

/// What the operator's own git configuration says about addresses: `url.<base>.insteadOf` (git-config(1)), and nothing
/// else of it.
package struct GitConfiguration: Sendable, Hashable {
    /// Read in this order, at most four, missing ones skipped.
    package let files: [String]

    package init(files: [String]) { self.files = files }

    /// The system's and the account's files: `/etc/gitconfig`, `$XDG_CONFIG_HOME/git/config`, `~/.gitconfig`.
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

    /// The address that git would really use: the longest `insteadOf` that begins `url` replaced by its base.
    func rewritten(_ url: String) throws(SourceControlError) -> String {
        try LibGit2.start()
        let operation = "reading url.*.insteadOf"
        let configuration = try GitHandle(operation, free: git_config_free) { git_config_new($0) }
        // A level holds one file; a later one wins over an earlier for the same base.
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
        // Not by a pattern: libgit2 1.5.1 with PCRE2 keeps memory for every name that is compared with one in vain.
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
            // Section and variable come in lower case, whatever the file says.
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
