import Basics
import Issues
import Model
import Storage

extension AttemptResults {
    /// Warns about files that the archives lack. A version without a library's link is broken, and must not look complete.
    mutating func tell(leftOut: [String]) {
        guard !leftOut.isEmpty else { return }
        warn(leftOut.prefix(Limit.findings).map { "not archived: \($0)" }, rule: Finding.Rule.leftOut)
        let more = leftOut.count - 1
        let sentence =
            "left out of the archives: \(leftOut[0])" + (more > 0 ? " and \(more) more, which are issues" : "")
        notes.append(sentence)
        becomeWarnings(sentence)
    }

    /// Adds the remarks of the recipe's reader as warnings.
    mutating func tell(remarks: [String]) {
        guard let first = remarks.first else { return }
        warn(remarks.prefix(Limit.findings), rule: Finding.Rule.nearlyRightName)
        notes += remarks
        becomeWarnings(first)
    }

    private mutating func warn(_ messages: some Sequence<String>, rule: String) {
        let found = messages.map { Finding(category: .warning, message: $0, rule: rule) }
        for (finding, keys) in zip(found, Fingerprinter.keys(of: found) { _, _ in nil }) {
            findings.append(
                StoredFinding(
                    fingerprint: Digest.sha256(of: Array(keys.place.utf8)),
                    content: Digest.sha256(of: Array(keys.content.utf8)), finding: finding, step: nil))
            counts.add(finding)
        }
    }

    private enum Limit {
        /// The most findings of one kind; further ones are only counted.
        static let findings = 100
    }
}
