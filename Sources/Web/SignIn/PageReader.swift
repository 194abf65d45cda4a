import Encodings
import Model

/// The person who reads the page that the current task makes.
struct PageReader: Sendable {
    @TaskLocal static var ofRequest = PageReader()

    var caller = Caller.anonymous
    /// The caller's role on what the page is about; `nil` if it has none there.
    var role: Role?
    /// The bots that the caller's roles are limited to; `nil`: none of them is limited, or there is none.
    var shown: BotScope?
    /// The message that an action left for this page; `nil` if there is none.
    var message: PageMessages.Message?
    /// The page's path with its query, to which a sign-in returns.
    var path = "/"
    /// Whether a browser can sign in here.
    var maySignIn = false

    /// The part of each page's content that depends on its reader: name and role, the forms that it may offer, and a message.
    var view: ViewObject {
        let isSignedIn = caller.csrf != nil && caller.isKnown
        let role = isSignedIn ? role : nil
        return [
            "csrf": .text(caller.csrf), "user": .text(isSignedIn ? caller.name : nil),
            "role": .text(isSignedIn ? caller.rights.words : nil),
            "mayIntegrate": .flag(role.map { $0 >= .operator } ?? false), "mayAdminister": .flag(role == .admin),
            "mayControl": .flag(isSignedIn && caller.role.map { $0 >= .operator } ?? false),
            "maySignOut": .flag(caller.hasSession),
            "signIn": .text(!isSignedIn && maySignIn ? "/sign-in?next=\(PercentEncoding.encode(path))" : nil),
            "said": .list(
                message.map { [["words": .text($0.text), "saidTone": .text($0.isBad ? "bad" : "good")]] } ?? []),
        ]
    }
}
