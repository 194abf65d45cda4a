/// A part of a listing, newest first.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// The cursor that continues the listing as `before:`; `nil` at its end. Rows added meanwhile do not shift the pages.
    package var next: Int64?

    package init(items: [Item], next: Int64?) {
        self.items = items
        self.next = next
    }
}

extension Page: Equatable where Item: Equatable {}
