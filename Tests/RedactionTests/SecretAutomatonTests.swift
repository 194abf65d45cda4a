import TestSupport
import Testing

@testable import Redaction

@Suite struct SecretAutomatonTests {
    /// A view with escapes takes over a state and falls back from it repeatedly. No fall may cost the state's whole depth.
    @Test(
        .proves(.jobs, "Secrets are masked as programs escape them for URLs, forms, JSON and XML"),
        arguments: ["a", "ab", "\"/+&é ~*'%", "aab", "q/\n"])
    func testThatAFallIsShortFromASecretThatRepeatsItself(part: String) {
        // given
        let secret = String(repeating: part, count: 1000)
        let automaton = SecretAutomaton(forms: SecretForms.all(of: secret))
        var state = 0
        for byte in secret.utf8 where byte != 0x0A {
            // when
            state = automaton.next(state, byte)
            var (other, falls) = (state, 0)
            while other != 0 {
                other = automaton.failure(other)
                falls += 1
            }
            // then: with two falls, each time at most half of the rest
            #expect(falls < 16, "at \(automaton.depth(state))")
        }
        #expect(automaton.matched(state) > 0)
    }
}
