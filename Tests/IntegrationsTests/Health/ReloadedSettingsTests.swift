import BotSupport
import Model
import Settings
import Storage
import TestSupport
import Testing
import martlet

@testable import Integrations

/// What the service knows of its settings after a reload.
@Suite struct ReloadedSettingsTests {
    @Test(
        .proves(
            .operating, "The secret of an `operator` that a reload applied is listed, and is a trouble if it is missing"
        ))
    func testThatTheSecretsOfReloadedSettingsAreKnown() async throws {
        try await withBot { bot in
            // given
            var settings = try bot.parts(bot.store).settings
            let health = try bot.operations.health
            await health.examine(isForced: true)
            #expect(health.troubles.map(\.kind).contains(.credentials) == false)
            // when
            settings.operators = OperatorSettings(webhook: "https://chat.example/hook", secret: "ops-hook")
            settings.concurrency = 7
            try await bot.service.reload(settings)
            await health.examine(isForced: true)
            // then
            #expect(health.troubles.filter { $0.kind == .credentials }.map(\.subject) == ["ops-hook"])
            let listed = try await bot.operations.secrets.list().first { $0.name == "ops-hook" }
            #expect(listed?.uses == ["`operator` of the settings"])
            #expect(health.settings.current.concurrency == 7)
        }
    }

    @Test func testThatKeysThatNeedARestartAreNotThoseOfTheRunningService() async throws {
        try await withBot { bot in
            // given
            var settings = try bot.parts(bot.store).settings
            settings.signing = "signing-key"
            // when
            try await bot.service.reload(settings)
            // then
            #expect(try bot.operations.health.settings.current.signing == nil)
        }
    }
}
