/// What an upload has to know again when the next process goes on with it, where the server alone does not tell it: which of the unfinished
/// uploads into a bucket is its own.
package protocol UploadMemory: Sendable {
    /// What was kept of a place; nothing when nothing was, or when it cannot be read.
    func recall(_ place: String) async -> String?
    /// What cannot be kept is sent anew by the next process, so nothing is thrown.
    /// - Parameter text: Some lines, of 100 KiB at most; nothing: it is forgotten.
    func keep(_ text: String?, of place: String) async
}
