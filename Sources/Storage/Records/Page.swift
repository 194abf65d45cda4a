/// A part of a listing, newest first.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// Given as `before:`, it continues the listing; nothing at its end. Rows that are added meanwhile shift nothing.
    package var next: Int64?

    package init(items: [Item], next: Int64?) {
        self.items = items
        self.next = next
    }
}

extension Page: Equatable where Item: Equatable {}
