/// How long transactions held the writer, from their begin until they were on disk.
package struct WriterFigures: Hashable, Sendable {
    package var transactions = 0
    /// How many took longer than 5 ms.
    package var long = 0
    package var longest: Duration = .zero
}
