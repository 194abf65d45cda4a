/// A store for data that a later process needs to continue an upload and that the server does not provide: which of the unfinished uploads to a
/// bucket is its own.
package protocol UploadStateStore: Sendable {
    /// Returns the stored text of a place; `nil` if there is none, or it cannot be read.
    func load(_ place: String) async -> String?
    /// Stores a text. Does not throw, because the next process only has to send the data again if it is missing.
    /// - Parameter text: Some lines, at most 100 KiB; `nil` removes the stored text.
    func save(_ text: String?, of place: String) async
}
