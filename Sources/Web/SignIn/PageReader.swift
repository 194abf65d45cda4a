import Encodings
import Model

/// The person who reads the page that the current task makes.
struct PageReader: Sendable {
    @TaskLocal static var ofRequest = PageReader()

    var caller = Caller.anonymous
    /// The message that an action left for this page; `nil` if there is none.
    var message: PageMessages.Message?
    /// The page's path with its query, to which a sign-in returns.
    var path = "/"
    /// Whether a browser can sign in here.
    var maySignIn = false

    /// The part of each page's content that depends on its reader: name and role, the forms that it may offer, and a message.
    var view: ViewObject {
        let role = caller.csrf == nil ? nil : caller.role
        return [
            "csrf": .text(caller.csrf), "user": .text(role == nil ? nil : caller.name), "role": .text(role?.rawValue),
            "mayIntegrate": .flag(role.map { $0 >= .operator } ?? false), "mayAdminister": .flag(role == .admin),
            "maySignOut": .flag(caller.hasSession),
            "signIn": .text(role == nil && maySignIn ? "/sign-in?next=\(PercentEncoding.encode(path))" : nil),
            "said": .list(
                message.map { [["words": .text($0.text), "saidTone": .text($0.isBad ? "bad" : "good")]] } ?? []),
        ]
    }
}
