import Testing

@testable import Kit

@Test func adds() { #expect(add(1, 1) == 2) }
@Test func addsWrongly() { #expect(add(1, 1) == 3) }
