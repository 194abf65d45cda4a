import Foundation
import Model
import TestSupport
import Testing

@testable import Web

@Suite(
    .proves(
        .notices,
        "`martlet doctor` says which published files are damaged and what to do, by what the service has found"))
struct DoctorFilesTests {
    private func doctor(_ web: WebFixture, socket: String?) async throws -> String {
        let settings = try web.directory.write("martlet.yml", "isolation: none\nstate: \(web.state)\n")
        var environment = ["PATH": "/usr/bin:/bin", "HOME": web.directory.path]
        environment["MARTLET_URL"] = socket
        return try await run(
            [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
            environment: environment
        ).stdout
    }

    @Test func testThatDoctorNamesDamagedFilesAndWhatToDo() async throws {
        try await FileServerTests.withVersions { web in
            // given
            let file = "files/kit/1.4.2/kit-source.tar.gz"
            expectContains(
                try await doctor(web, socket: web.socket),
                "--  files  the service has not checked all published files since it started; ask again later\n")
            try web.directory.write("state/\(file)", "sourcE")
            web.log.expectErrors(containing: "damaged")

            // when
            try await FileScrub(site: web.site).look()
            let said = try await doctor(web, socket: web.socket)

            // then
            expectContains(
                said,
                "!!  files  kit 1.4.2: kit-source.tar.gz is not what was published (seen 2026-03-01T12:00:00.000Z) and not served; "
                    + "restore \(web.state)/\(file) from a backup; manifest.json beside it has its SHA-256\n")
            #expect(said.split(separator: "\n").count { $0.contains("  files  ") } == 1)
            let health = try await web.send("GET", "/health").text
            #expect(!health.contains("kit"), "who may not read is told nothing")
            try await web.expect(401, "GET", "/api/v1/files/damaged")

            // when: it is restored
            try web.directory.write("state/\(file)", "source")
            try await FileScrub(site: web.site).look()

            // then
            expectContains(
                try await doctor(web, socket: web.socket),
                "ok  files  all are as they were published; checked at 2026-03-01T12:00:00.000Z\n")
        }
    }

    @Test func testThatDoctorSaysThatNobodyLooksWhereNoServiceRuns() async throws {
        try await FileServerTests.withVersions { web in
            expectContains(
                try await doctor(web, socket: nil),
                "--  files  the published files were not checked, because the service could not be asked: no daemon listens at \(web.state)/martlet.socket\n"
            )
        }
    }
}
