import Model
import TestSupport
import Testing

@testable import Storage

@Suite struct IntegrationStampsTests {
    private static func id(_ number: Int, of bot: String = "kit") -> IntegrationID {
        IntegrationID(bot: Name(nearest: bot), number: number)
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ), arguments: [StoreChange.integration(id(1)), .queued(id(1)), .completed(id(1))])
    func testThatAChangeIsOfItsIntegrationAlone(change: StoreChange) {
        // given
        var stamps = IntegrationStamps()
        stamps.record(.integration(Self.id(1)))
        stamps.record(.integration(Self.id(2)))
        let before = [stamps.stamp(of: Self.id(1)), stamps.stamp(of: Self.id(2))]
        // when
        stamps.record(change)
        // then
        #expect(stamps.stamp(of: Self.id(1)) > before[0])
        #expect(stamps.stamp(of: Self.id(2)) == before[1])
    }

    /// A silence is shown in the newest integration of each branch.
    @Test func testThatASilenceIsAChangeOfAllIntegrationsOfTheBot() {
        // given
        var stamps = IntegrationStamps()
        stamps.record(.integration(Self.id(1)))
        let before = [
            stamps.stamp(of: Self.id(1)), stamps.stamp(of: Self.id(2)), stamps.stamp(of: Self.id(1, of: "tool")),
        ]
        // when
        stamps.record(.silences(bot: Name(nearest: "kit")))
        // then
        #expect(stamps.stamp(of: Self.id(1)) > before[0])
        #expect(stamps.stamp(of: Self.id(2)) > before[1])
        #expect(stamps.stamp(of: Self.id(1, of: "tool")) == before[2])
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatWhatIsForgottenCountsAsChanged() {
        // given
        var stamps = IntegrationStamps()
        stamps.record(.integration(Self.id(1)))
        let before = stamps.stamp(of: Self.id(1))
        // when
        for number in 2...IntegrationStamps.maximum + 1 { stamps.record(.integration(Self.id(number))) }
        // then
        #expect(stamps.stamp(of: Self.id(1)) > before)
        let after = stamps.stamp(of: Self.id(1))
        stamps.record(.integration(Self.id(1)))
        #expect(stamps.stamp(of: Self.id(1)) > after)
    }
}
