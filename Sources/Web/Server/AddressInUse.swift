/// The error of a server whose address another program listens on.
package struct AddressInUse: Error, CustomStringConvertible {
    /// The address in the settings: `127.0.0.1:8080`.
    package let address: String

    package var description: String {
        "\(address) is in use by another program; stop it, or write another `listen:` into the settings"
    }
}
