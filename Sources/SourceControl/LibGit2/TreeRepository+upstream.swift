import Basics
import Model

extension TreeRepository {
    /// The default branch of the repository that this one was cloned from, as `git clone` records it. If there is no such record, it is a branch with
    /// a usual name, the server's or its own. Empty if there is none. It is read directly from the files, whichever program reads the repository.
    var upstream: UpstreamRefs {
        let remote = "refs/remotes/origin/"
        var names = ["main", "master"].flatMap { [(remote + $0, $0), ("refs/heads/" + $0, $0)] }
        let head = Self.text(common + remote + "HEAD").split(separator: "\n").first ?? ""
        if head.hasPrefix("ref: " + remote), !head.contains("..") {
            let branch = String(head.dropFirst("ref: ".count + remote.count))
            names.insert((remote + branch, branch), at: 0)
        }
        // An unreadable file counts as missing.
        let packed = (try? WholeFile.read(common + "packed-refs", limit: 256 << 20)) ?? []
        let lines = String(decoding: packed, as: UTF8.self).split(separator: "\n")
        for (name, branch) in names {
            let loose = Self.text(common + name).split(separator: "\n").first
            let line = loose ?? lines.first { $0.hasSuffix(" " + name) }?.prefix { $0 != " " }
            guard let line, let commit = CommitID(line) else { continue }
            return UpstreamRefs(branches: [RefName(branch: branch): commit], defaultBranch: RefName(branch: branch))
        }
        return UpstreamRefs()
    }
}
