import CLibGit2
import Model

/// Finds the merge bases of two commits, and whether they are far away.
struct CommonHistory {
    let reading: CommitReading

    /// Walks both histories back, the newest commit first, as git does to find the merge base.
    /// - Returns: Whether that takes more than `limit` commits.
    func isFar(_ first: CommitID, _ second: CommitID, limit: Int) throws(SourceControlError) -> Bool {
        // The flags are: 1, the first commit leads to it; 2, the second does; 4, both do, so that its ancestors are common, too.
        var flags: [CommitID: UInt8] = [first: 1]
        flags[second, default: 0] |= 2
        var queue = Queue()
        var (live, count) = (0, 0)
        func add(_ commit: CommitID) throws(SourceControlError) {
            let isLive = flags[commit, default: 0] & 4 == 0
            if isLive { live += 1 }
            do throws(SourceControlError) {
                let handle = try reading.commit(commit)
                var parents: [CommitID] = []
                for index in 0..<git_commit_parentcount(handle.pointer) {
                    if let parent = git_commit_parent_id(handle.pointer, index)?.pointee.commitID {
                        parents.append(parent)
                    }
                }
                queue.push(
                    Queue.Item(time: git_commit_time(handle.pointer), commit: commit, parents: parents, isLive: isLive))
            } catch {
                // A missing commit is reported by the merge.
                if isLive { live -= 1 }
                guard error.code == .commitMissing else { throw error }
            }
        }
        for commit in Set([first, second]) { try add(commit) }
        while live > 0, let next = queue.pop() {
            count += 1
            if count > limit { return true }
            if next.isLive { live -= 1 }
            var own = flags[next.commit, default: 0]
            if own & 3 == 3 { own |= 4 }
            for parent in next.parents where flags[parent, default: 0] | own != flags[parent, default: 0] {
                flags[parent, default: 0] |= own
                try add(parent)
            }
        }
        return false
    }

    /// Returns the merge bases of two commits. If there are several, also returns the merge bases of those: all commits that the merge reads.
    /// - Returns: `nil` if there are more than `limit`.
    func ancestors(_ first: CommitID, _ second: CommitID, limit: Int) throws(SourceControlError) -> Set<CommitID>? {
        var found: Set<CommitID> = []
        var pending = [(first, second)]
        while let (first, second) = pending.popLast() {
            let bases = try self.bases(first, second)
            let isNew = !found.isSuperset(of: bases)
            found.formUnion(bases)
            guard found.count <= limit else { return nil }
            if isNew, let first = bases.first { pending += bases.dropFirst().map { (first, $0) } }
        }
        return found
    }

    private func bases(_ first: CommitID, _ second: CommitID) throws(SourceControlError) -> [CommitID] {
        var (one, two) = (try git_oid(first), try git_oid(second))
        var array = git_oidarray()
        defer { git_oidarray_dispose(&array) }
        let result = git_merge_bases(&array, reading.repository, &one, &two)
        // The histories have no common commit.
        if result == GIT_ENOTFOUND.rawValue { return [] }
        try git(reading.operation) { result }
        return (0..<array.count).compactMap { array.ids?[$0].commitID }
    }

    /// A priority queue of commits, the newest first.
    private struct Queue {
        struct Item {
            let time: Int64
            let commit: CommitID
            let parents: [CommitID]
            let isLive: Bool
        }
        private var items: [Item] = []

        mutating func push(_ item: Item) {
            items.append(item)
            var place = items.count - 1
            while place > 0, items[(place - 1) / 2].time < items[place].time {
                items.swapAt(place, (place - 1) / 2)
                place = (place - 1) / 2
            }
        }

        mutating func pop() -> Item? {
            guard let first = items.first else { return nil }
            let last = items.removeLast()
            guard !items.isEmpty else { return first }
            items[0] = last
            var place = 0
            while true {
                let children = [2 * place + 1, 2 * place + 2].filter { $0 < items.count }
                guard let newer = children.max(by: { items[$0].time < items[$1].time }),
                    items[newer].time > items[place].time
                else { return first }
                items.swapAt(place, newer)
                place = newer
            }
        }
    }
}
