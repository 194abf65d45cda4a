import Integrations
import Model
import Storage

/// The forms that pause and resume the service and its bots.
extension Actions {
    func pauseService(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        _ = try await site.pause(nil, reason: form["reason"], by: call)
        return Outcome(
            text: "The service is paused: no integration starts, those that run go on, and events are stored.",
            page: "/queue")
    }

    func resumeService(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        _ = try await site.resume(nil, by: call)
        return Outcome(text: "The service goes on.", page: "/queue")
    }

    func pauseBot(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let bot = try await site.bot(of: call).name
        _ = try await site.pause(bot, reason: form["reason"], by: call)
        return Outcome(
            text: "\(bot) is paused: no integration of it starts, those that run go on, and events are stored.",
            page: "/bots/\(bot)")
    }

    func resumeBot(_ call: AuthorizedRequest, _ form: SentForm) async throws -> Outcome {
        let bot = try await site.bot(of: call).name
        _ = try await site.resume(bot, by: call)
        return Outcome(text: "\(bot) goes on.", page: "/bots/\(bot)")
    }
}
