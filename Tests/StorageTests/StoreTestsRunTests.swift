import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// The comparison asks which tests ran, and reads no more than that.
@Suite struct StoreTestsRunTests {
    @Test(
        .proves(
            .testHistory,
            "Integrations are compared without reading every test: only whether earlier failures ran again"),
        arguments: [50, 3000])
    func testThatItSaysWhichOfTheNamedRan(_ count: Int) async throws {
        try await withStore { fixture in
            // given: a profile, one that is gone, one that is new, one that is skipped, and a name with a slash of its own
            var tests = StoreTestRecordsTests.tests(0..<count)
            try await StoreTestRecordsTests.integrate(fixture, tests)
            tests.remove(at: 5)
            tests.append(TestResult(suite: "New", name: "a/b", outcome: .passed))
            tests[7].outcome = .skipped
            let id = try await StoreTestRecordsTests.integrate(fixture, tests).integration
            // when
            let run = try await fixture.store.testsRun(
                of: id,
                named: ["Suite0/test4", "Suite0/test5", "Suite0/test8", "New/a/b", "Suite0/none", "martlet.test"])
            // then
            let debug = try name("debug")
            #expect(run == [debug: TestsRun(named: ["Suite0/test4", "Suite0/test8", "New/a/b"], isAny: true)])
        }
    }

    @Test func testThatItSaysOfEachConfigurationsLastAttemptWhetherATestCrashed() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            let id = try await fixture.queue().id
            try await store.apply(.started, to: id, at: time(20))
            let first = try await store.addAttempt(to: id, job: name("debug"), at: time(21)).id
            try await StoreTestRecordsTests.add(StoreTestRecordsTests.tests(0..<10, [3: .failed]), to: first, fixture)
            let second = try await store.addAttempt(to: id, job: name("debug"), at: time(22)).id
            try await StoreTestRecordsTests.add(StoreTestRecordsTests.tests(0..<4, [3: .crashed]), to: second, fixture)
            let release = try await store.addAttempt(to: id, job: name("release"), at: time(23)).id
            try await StoreTestRecordsTests.add([], to: release, fixture)
            // when
            let run = try await store.testsRun(of: id, named: ["Suite0/test3", "Suite0/test9"])
            // then
            #expect(run[second.job] == TestsRun(named: ["Suite0/test3"], isAny: true, hasCrashed: true))
            #expect(run[release.job] == TestsRun())
        }
    }

    @Test(
        .proves(
            .testHistory,
            "Integrations are compared without reading every test: only whether earlier failures ran again"))
    func testThatNoRecordIsReadWhereNoTestIsNamed() async throws {
        try await withStore { fixture in
            // given: a record that cannot be read
            let id = try await StoreTestRecordsTests.integrate(fixture, StoreTestRecordsTests.tests(0..<600))
                .integration
            try await fixture.store.writer.write("damage") {
                try $0.db.execute(sql: "UPDATE test_records SET record = x'00'")
            }
            // when
            let run = try await fixture.store.testsRun(of: id, named: ["martlet.test"])
            // then
            #expect(run[try name("debug")] == TestsRun(isAny: true))
            await expectFailure(.corrupt) { try await fixture.store.testsRun(of: id, named: ["Suite0/test1"]) }
        }
    }
}
