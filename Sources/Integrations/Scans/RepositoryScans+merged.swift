import Logging
import Model
import SourceControl
import Storage

extension RepositoryScans {
    /// Determines which open pull requests are merged. A head that is in the present tip of its base, and was not when it was first seen, is merged,
    /// even without an event about it. Pull requests whose commits are not in the mirror are missing from the result.
    func judge(_ open: [PullRequestRecord], _ listing: Listing, _ mirror: Mirror) async -> [Int: JudgedPull] {
        var asked: [(number: Int, question: MergeQuestion)] = []
        for pull in open {
            guard let head = pull.head, let first = pull.baseTip, let tip = listing.heads[pull.base],
                (listing.others[pull.place] ?? listing.heads[pull.place]) == head, tip != first, tip != pull.judgedTip
            else { continue }
            asked.append((pull.number, MergeQuestion(head: head, first: first, tip: tip)))
        }
        guard !asked.isEmpty else { return [:] }
        do {
            let answers = try await mirror.whichAreMerged(asked.map(\.question))
            return Dictionary(
                zip(asked, answers).compactMap { asked, answer in
                    answer.map {
                        (
                            asked.number,
                            JudgedPull(head: asked.question.head, tip: asked.question.tip, isMerged: $0)
                        )
                    }
                }
            ) { $1 }
        } catch {
            // The scan is used all the same; the next one tries again.
            logger.warning(
                "it could not be read whether pull requests are merged",
                metadata: ["repository": "\(mirror.url)", "error": "\(error)"])
            return [:]
        }
    }
}
