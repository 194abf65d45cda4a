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
