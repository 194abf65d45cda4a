import Basics
import CLibGit2
import Glibc
import Model

/// The conversation by the `git` command.
extension RemoteSession {
    /// Lists the server's refs by `git ls-remote`.
    func list(_ address: String, by program: GitProgram, _ operation: String) throws(SourceControlError)
        -> Advertisement
    {
        let scratch = try GitScratch(program, store: store, operation: operation)
        let result: ChildProcess.Result
        do throws(SourceControlError) {
            result = try run(
                scratch, ["ls-remote", "--quiet", "--symref", "--", address], address, operation,
                addressBytes: NetworkLimits.listMemory)
        } catch  where error.code == .tooLarge {
            // It printed too much, or lacked memory for its output.
            throw Self.longList(operation, error)
        }
        try scratch.remove(operation)
        return try Self.advertisement(from: result.output, others: others, limit: control.limits.refs, operation)
    }

    /// Fetches what `refspecs` name into the mirror's objects by `git fetch`. The mirror's refs do not change.
    func download(
        _ refspecs: [String], listed: [RefName: AdvertisedRef], _ address: String, isAnew: Bool, by program: GitProgram,
        _ operation: String
    ) throws(SourceControlError) {
        let scratch = try GitScratch(
            program, store: store, refs: haves(listed: listed, operation), operation: operation)
        let options =
            [
                "fetch", "--progress", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
                "--show-forced-updates", "--force",
            ] + (isAnew ? ["--refetch"] : [])
        // A killed git leaves the packs that it had received.
        try store.removeTemporaryPacks(operation)
        let packs = try store.packs(operation)
        do throws(SourceControlError) {
            let result = try run(scratch, options + ["--", address] + refspecs, address, operation)
            // git's status is 0 in this case, and it has fetched commits without their parents.
            if result.errors.contains("shallow roots are not allowed") {
                try store.removePacks(except: packs, operation)
                throw Self.unsupported(
                    operation,
                    "the repository is shallow, its history is not whole; fetch the rest there"
                        + " (git fetch --unshallow), or name the repository that it came from")
            }
        } catch {
            guard try store.removeTemporaryPacks(operation).largest >= control.bytes else { throw error }
            throw NetworkWatch.error(.tooManyBytes(control.bytes), underlying: error)
        }
        try scratch.remove(operation)
    }

    /// Returns the mirror's refs, which tell the server what it need not send. Refs that are still listed keep their names, so that existing tags are
    /// not requested. The others get numbers, because `a/b` must not conflict with a new `a`.
    private func haves(listed: [RefName: AdvertisedRef], _ operation: String) throws(SourceControlError) -> String {
        var (lines, count, isKept) = ("# pack-refs with: peeled fully-peeled \n", 0, true)
        for line in try store.packedRefs(operation).split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("^") {
                if isKept { lines += line + "\n" }
                continue
            }
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            isKept = listed[RefName(String(parts[1]))] != nil
            count += 1
            lines += isKept ? line + "\n" : "\(parts[0]) refs/gone/\(count)\n"
        }
        return lines
    }

    private func run(
        _ scratch: GitScratch, _ arguments: [String], _ address: String, _ operation: String,
        addressBytes: Int64 = NetworkLimits.programMemory
    ) throws(SourceControlError) -> ChildProcess.Result {
        let target = try RemoteURL(address, isInsecureAllowed: true)
        let access = ProgramAccess(url: target, credentials: credentials, ssh: scratch.program.ssh)
        let result = try scratch.run(
            arguments, operation, control: control, more: access.configuration, environment: access.environment,
            memory: access.memory, addressBytes: addressBytes)
        guard result.status != 0 else { return result }
        throw ProgramFailure(result, url: target, hasCredentials: hasCredentials(for: target)).error(
            address == url.description ? operation : "\(operation) (by insteadOf: \(address))")
    }

    private func hasCredentials(for url: RemoteURL) -> Bool {
        url.kind == .ssh ? credentials?.key != nil : credentials?.password != nil
    }

    /// Reads the lines `ID\tREF` and `ref: REF\tHEAD`.
    static func advertisement(
        from output: [UInt8], others: Set<RefName> = [], limit: Int, _ operation: String
    ) throws(SourceControlError) -> Advertisement {
        var result = Advertisement(others: others)
        var branch: RefName?
        for line in output.split(separator: UInt8(ascii: "\n")) {
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else { continue }
            let (first, name) = (line[..<tab], line[line.index(after: tab)...])
            if first.starts(with: "ref: ".utf8) {
                // A branch whose name is not UTF-8 is not listed, either.
                if name.elementsEqual("HEAD".utf8) {
                    branch = RefName(String(decoding: first.dropFirst(5), as: UTF8.self))
                }
                continue
            }
            guard first.count == Int(GIT_OID_HEXSZ) else { throw differentHash(operation) }
            try result.add(name, id: String(decoding: first, as: UTF8.self), limit: limit, operation)
        }
        if let branch, result.refs[branch] != nil { result.defaultBranch = branch }
        return result
    }

    static func tooManyRefs(_ limit: Int, _ operation: String) -> SourceControlError {
        SourceControlError(
            code: .tooLarge, operation: operation,
            message: "the server lists more than \(limit) branches and tags; remove some there")
    }

    static func longList(_ operation: String, _ underlying: SourceControlError?) -> SourceControlError {
        SourceControlError(
            code: .tooLarge, operation: operation,
            message: "the server's list of refs is longer than \(NetworkLimits().listBytes >> 20) MiB or "
                + "\(NetworkLimits().listLines) refs of any kind; remove some there",
            underlying: underlying)
    }

    static func unsupported(_ operation: String, _ message: String) -> SourceControlError {
        SourceControlError(code: .unsupported, operation: operation, message: message)
    }

    static func differentHash(_ operation: String) -> SourceControlError {
        unsupported(
            operation,
            "the repository names its objects by SHA-256, which libgit2 \(LIBGIT2_VERSION) cannot read; "
                + "use a repository with SHA-1, git's default (git init --object-format=sha1)")
    }

    /// Returns the error for a partial repository (`--filter`). Its owner fetches missing objects on demand, which the service does not do.
    static func partial(_ operation: String) -> SourceControlError {
        unsupported(
            operation,
            "the repository is partial, it lacks objects of its own history; name the repository that it came"
                + " from, or fetch them there (git fetch --refetch --no-filter)")
    }
}
