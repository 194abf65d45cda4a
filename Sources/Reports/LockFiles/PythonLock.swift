import Encodings

/// A reader of `poetry.lock` (python-poetry.org) and `uv.lock` (docs.astral.sh/uv), as their tools write them. A package has a digest for each of its
/// files, and a build may have used any of them.
enum PythonLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var (table, name, version) = ("", "", "")
        var versions: [String: String] = [:]
        for line in LockLines.of(bytes) {
            if line.hasPrefix("[") {
                table = line
                if table == "[[package]]" { (name, version) = ("", "") }
            } else if table == "[[package]]" {
                if let text = LockLines.own("name", of: line) { name = text }
                if let text = LockLines.own("version", of: line) {
                    version = text
                    versions[name] = text
                }
                add(line, name, version, to: &list)
            } else if table == "[metadata.files]" {
                // Before poetry 1.3, `NAME = [` was followed by one file per line.
                if line.hasSuffix(" = [") { name = LockLines.unquoted(line.dropLast(4)) }
                add(line, name, versions[name] ?? "", to: &list)
            }
        }
    }

    /// Adds the file in `{ file = "…", hash = "sha256:…" }`, or in `{ url = "https://…/FILE", hash = … }`.
    private static func add(_ line: String, _ name: String, _ version: String, to list: inout PinList) {
        guard let hash = LockLines.value(of: "hash", in: line) else { return }
        var file = LockLines.value(of: "file", in: line)
        if file == nil, let url = LockLines.value(of: "url", in: line) {
            let last = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
            file = last.last.map { PercentEncoding.decodeLeniently(String($0)) }
        }
        list.add(
            LockedPackage(
                .pypi, name, version, qualifier: file.map { ("filename", $0) }, digest: LockedDigest.named(hash)))
    }
}

/// A reader of `Pipfile.lock` (pipenv.pypa.io): digests of each package's files, without the files' names.
enum PipfileLock {
    static func read(_ bytes: [UInt8], into list: inout PinList) throws(JSON.Failure) {
        let file = try JSON.parse(bytes)
        for group in file.keys.sorted() where group != "_meta" {
            for name in file[group].keys.sorted() {
                let entry = file[group][name]
                guard let version = entry["version"].string, version.hasPrefix("==") else { continue }
                for hash in (entry["hashes"].elements ?? []).compactMap(\.string) {
                    list.add(
                        LockedPackage(.pypi, name, String(version.dropFirst(2)), digest: LockedDigest.named(hash)))
                }
            }
        }
    }
}

/// A reader of `requirements.txt` with `--hash` (pip.pypa.io, "Requirements File Format"). A requirement without a hash pins no package.
enum RequirementsFile {
    static func read(_ bytes: [UInt8], into list: inout PinList) {
        var words: [Substring] = []
        for line in LockLines.of(bytes) {
            let isContinued = line.hasSuffix("\\")
            let text = isContinued ? line.dropLast() : line[...]
            // A comment extends to the end of its line and also ends a continued line.
            words += text.split { $0 == " " || $0 == "\t" }.prefix { !$0.hasPrefix("#") }
            guard !isContinued else { continue }
            add(words, to: &list)
            words = []
        }
        add(words, to: &list)
    }

    private static func add(_ words: [Substring], to list: inout PinList) {
        guard let first = words.first, let mark = first.range(ofFirst: "==") else { return }
        let name = first[..<mark.lowerBound].prefix { $0 != "[" }
        let version = first[mark.upperBound...].drop { $0 == "=" }.prefix { $0 != ";" }
        for word in words where word.hasPrefix("--hash=") {
            list.add(LockedPackage(.pypi, String(name), String(version), digest: LockedDigest.named(word.dropFirst(7))))
        }
    }
}
