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
            #expect(record("/work/kit").node == nil)
            // when
            try record("/work/kit").write("n2.example")
            // then
            #expect(record("/work/kit").node == "n2.example" && record("/work/other").node == nil)
            try record("/work/kit").remove()
            #expect(record("/work/kit").node == nil)
        }
    }

    @Test(
        .proves(.badInput, "A recorded node that is no name is not passed to sbatch"),
        arguments: ["n1,n2", "-w", "n[1-9]", "", "a b"])
    func testThatATextThatIsNoNodeIsIgnored(_ text: String) async throws {
        try await withTemporaryDirectory { temporary in
            let record = NodeRecord(
                directory: temporary.path("nodes"), executor: Name(nearest: "cluster"), workspace: "/work/kit")
            try record.write("n1")
            try record.write(text)
            #expect(record.node == nil)
        }
    }
}
