package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the test, and says so, where threads cannot have real time: not root's and without RLIMIT_RTPRIO, or in a control group of
    /// version 1 that has none.
    package static var realTime: Self {
        .enabled("no thread can have real time here: see chrt --rr 1 true") {
            guard TestTools.find("chrt") != nil else { return false }
            return try await run(["chrt", "--rr", "1", "true"]).status == 0
        }
    }
}
