import TestSupport

/// How many bodies ran, and how many of them at once.
struct BodyCount {
    var most = 0
    var total = 0

    /// - Parameter run: Runs a body on what is tested.
    static func of(
        _ bodies: Int, run: @escaping @Sendable (_ body: @escaping @Sendable () -> Void) async -> Void
    ) async -> BodyCount {
        let running = Locked((now: 0, count: BodyCount()))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<bodies {
                group.addTask {
                    await run {
                        running.withLock {
                            $0.now += 1
                            $0.count.most = max($0.count.most, $0.now)
                            $0.count.total += 1
                        }
                        running.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        return running.value.count
    }
}
