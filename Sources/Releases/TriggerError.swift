/// The reason why a trigger failed: no version was published, nothing was uploaded, or a script did not succeed. The operator or the
/// repository's authors must correct it.
package struct TriggerError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
