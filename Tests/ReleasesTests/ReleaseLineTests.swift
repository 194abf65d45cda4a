import TestSupport
import Testing

@testable import Releases

@Suite struct ReleaseLineTests {
    @Test(
        .proves(.versions, "`version: branch`: release/1.4 → 1.4.0, 1.4.1"),
        arguments: [
            ("release/1.4", "1.4"), ("1.4", "1.4"), ("v1.4", "1.4"), ("release/v2", "2.0"), ("release/0.1", "0.1"),
            ("teams/kit/release/10.20", "10.20"), ("release/99999999999999999999.0", "99999999999999999999.0"),
        ])
    func testThatItReadsMajorAndMinor(branch: String, line: String) {
        #expect(ReleaseLine(branch: branch)?.description == line)
    }

    @Test(arguments: [
        "main", "", "release/", "release/1.4.2", "release/1.", "release/.4", "release/01.4", "release/1.04",
        "release/1.x", "release/-1.4", "release/1.4-beta", "release/1.4+5", "release/+1.4", "release/1.4/fix",
        "release/١.٤", "release/1..4", "release/vv1.4",
    ])
    func testThatItReadsNothingElse(branch: String) {
        #expect(ReleaseLine(branch: branch) == nil)
    }
}
