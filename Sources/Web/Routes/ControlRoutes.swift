import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Pauses, resumes and drains the service.
struct ControlRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/pauses", .read, "What is paused, by whom and why, and whether anything still runs.") {
                call in
                try .json(API.PauseState(await site.operations.control.state(), call.shows))
            }.described("getPauses", .control, .json(API.PauseState.self)).reaching(.listing),
            Route(
                .post, "/api/v1/pause", .role(.operator),
                "Starts no new integration, of a bot or of any; events are stored: {bot, reason}."
            ) { call in
                let wish = try await call.json(API.PauseRequest.self)
                let bot = try Self.bot(wish.bot)
                try call.require(.operator, on: bot)
                return try .json(
                    API.PauseState(await site.pause(bot, reason: wish.reason, by: call), call.shows))
            }.described(
                "pause", .control, body: API.PauseRequest.self,
                example: ["bot": "kit", "reason": "the disk is replaced"], .json(API.PauseState.self)
            ).reaching(.found),
            Route(
                .post, "/api/v1/resume", .role(.operator),
                "Ends the pause of a bot, that of the service with a drain, or the hold of publishing: {bot, publishing, published}."
            ) { call in
                let wish = try await call.json(API.ResumeRequest.self)
                let bot = try Self.bot(wish.bot)
                try call.require(.operator, on: wish.publishing == true ? nil : bot)
                if wish.publishing == true {
                    guard let published = wish.published else {
                        throw Problem(
                            400,
                            "`published` has the versions that were published after the backup was made; an empty list says that there is none."
                        )
                    }
                    let lost = try published.map(Self.version)
                    return try .json(
                        API.PauseState(
                            await site.resumePublishing(lost: lost, by: call), call.shows))
                }
                return try .json(API.PauseState(await site.resume(bot, by: call), call.shows))
            }.described(
                "resume", .control, body: API.ResumeRequest.self, example: ["bot": "kit"], .json(API.PauseState.self)
            ).reaching(.found),
            Route(
                .post, "/api/v1/drain", .role(.operator),
                "Starts no new integration until `resume` or a restart of the machine: {reason}."
            ) { call in
                let wish = try await call.json(API.DrainRequest.self)
                return try .json(
                    API.PauseState(
                        await site.drain(reason: wish.reason, by: call), call.shows))
            }.described(
                "drain", .control, body: API.DrainRequest.self, example: ["reason": "a new kernel"],
                .json(API.PauseState.self)),
        ]
    }

    private static func version(
        _ named: API.ResumeRequest.PublishedVersion
    ) throws(Problem) -> (product: Name, version: SemanticVersion) {
        guard let product = Name(named.product), let version = SemanticVersion(named.version) else {
            throw Problem(400, "`published` has products and versions, such as kit and 1.4.2.")
        }
        return (product, version)
    }

    /// Reads a bot's name from a body; `nil` from `nil`.
    private static func bot(_ text: String?) throws(Problem) -> Name? {
        guard let text else { return nil }
        guard let name = Name(text) else { throw Problem(404, "There is no such bot.") }
        return name
    }
}

extension API.Pause {
    init(_ pause: Storage.Pause) {
        let scope =
            switch pause.scope {
            case .service: "service"
            case .drain: "drain"
            case .publishing: "publishing"
            case .bot: "bot"
            }
        self.init(
            scope: scope, bot: pause.bot?.description, reason: pause.reason, by: pause.person, since: API.Time(pause.at)
        )
    }
}

extension API.PauseState {
    /// - Parameter shows: Whether the answer may show a bot.
    init(_ state: ServiceControl.State, _ shows: (Name) -> Bool) {
        self.init(
            pauses: state.pauses.all.filter { $0.bot.map(shows) ?? true }.map { API.Pause($0) }, running: state.running,
            drained: state.isDrained)
    }
}
