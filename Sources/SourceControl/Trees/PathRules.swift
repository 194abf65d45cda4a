import CLibGit2

/// The names in a tree that are never written. A workspace may be on any file system, and products are copied to others. So names that only NTFS or
/// HFS+ treats as `.git` are refused, too (CVE-2014-9390, CVE-2019-1352, CVE-2019-1353).
enum PathRules {
    /// Returns why a component is refused; `nil` if it is not.
    static func refusal(of name: [UInt8]) -> String? {
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) {
            return "empty, \".\" and \"..\" are not names"
        }
        if name.contains(UInt8(ascii: "/")) || name.contains(0) { return "a name must not hold a slash" }
        if name.count > 255 { return "a name must not be longer than 255 bytes" }
        // A backslash is an ordinary character on Linux and kept. The parts between backslashes are checked because Windows treats them as
        // components.
        let parts = name.split(separator: UInt8(ascii: "\\"), omittingEmptySubsequences: false).map(Array.init)
        return parts.contains(where: isDotGit) ? "some file systems take it for .git" : nil
    }

    /// Whether a name is `.git` in upper or lower case, its short name `git~1`, or one of these with the characters that NTFS drops at the end (dots,
    /// spaces, `:stream`). Also if it is `.git` with code points that HFS+ ignores.
    static func isDotGit(_ name: [UInt8]) -> Bool {
        let visible = withoutIgnorable(name).map { (0x41...0x5a).contains($0) ? $0 + 32 : $0 }
        if visible.elementsEqual(".git".utf8) { return true }
        let lower = name.map { (0x41...0x5a).contains($0) ? $0 + 32 : $0 }
        var trimmed = lower.prefix { $0 != UInt8(ascii: ":") }
        while let last = trimmed.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { trimmed.removeLast() }
        return trimmed.elementsEqual(".git".utf8) || trimmed.elementsEqual("git~1".utf8)
    }

    /// Whether a name is `.gitmodules`, or one that another file system treats as such.
    static func isModulesFile(_ name: [UInt8]) -> Bool {
        // This is the short name on NTFS, which libgit2 1.5.1 does not detect.
        let lower = name.map { (0x41...0x5a).contains($0) ? $0 + 32 : $0 }
        if lower.starts(with: "gitmod~".utf8) { return true }
        return name.withUnsafeBytes { bytes in
            let text = bytes.bindMemory(to: CChar.self)
            return git_path_is_gitfile(
                text.baseAddress, text.count, GIT_PATH_GITFILE_GITMODULES, GIT_PATH_FS_GENERIC) > 0
        }
    }

    /// Returns a name without the code points that HFS+ ignores in names: U+200C–U+200F, U+202A–U+202E, U+206A–U+206F, U+FEFF (git's `next_hfs_char`,
    /// utf8.c).
    private static func withoutIgnorable(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(where: { $0 >= 0x80 }), let text = String(validating: name, as: UTF8.self) else {
            return name
        }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x200c...0x200f, 0x202a...0x202e, 0x206a...0x206f, 0xfeff: continue
            default: result.append(scalar)
            }
        }
        return Array(String(result).utf8)
    }
}
