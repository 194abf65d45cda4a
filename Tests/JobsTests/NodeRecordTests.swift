import Basics
import Model
import TestSupport
import Testing

@testable import Jobs

/// Which node has a workspace.
@Suite struct NodeRecordTests {
    @Test func testThatANodeIsRecordedAndForgotten() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            func record(_ workspace: String) -> NodeRecord {
                NodeRecord(
                    directory: temporary.path("nodes"), executor: Name(nearest: "cluster"), workspace: workspace)
            }
            #expect(record("/srv/kit").node == nil)
            // when
            try record("/srv/kit").write("n2.example")
            // then
            #expect(record("/srv/kit").node == "n2.example" && record("/srv/other").node == nil)
            try record("/srv/kit").remove()
            #expect(record("/srv/kit").node == nil)
        }
    }

    /// Each write lists the directory that it is in.
    @Test func testThatThousandsOfRecordsAreInSmallDirectories() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let nodes = temporary.path("nodes")
            // when
            for number in 0..<1000 {
                let record = NodeRecord(
                    directory: nodes, executor: Name(nearest: "cluster"), workspace: "/srv/\(number)")
                try record.write("n1")
            }
            // then
            let records = try Directory(opening: nodes)
            let sizes = try records.entries().map { try records.entries($0.bytes).count }
            #expect(sizes.reduce(0, +) == 1000)
            #expect(sizes.allSatisfy { $0 < 20 })
        }
    }

    @Test(
        .proves(.badInput, "A recorded node that is no name is not passed to sbatch"),
        arguments: ["n1,n2", "-w", "n[1-9]", "", "a b"])
    func testThatATextThatIsNoNodeIsIgnored(_ text: String) async throws {
        try await withTemporaryDirectory { temporary in
            let record = NodeRecord(
                directory: temporary.path("nodes"), executor: Name(nearest: "cluster"), workspace: "/srv/kit")
            try record.write("n1")
            try record.write(text)
            #expect(record.node == nil)
        }
    }
}
