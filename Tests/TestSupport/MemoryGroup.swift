import Glibc
package import Testing

extension Trait where Self == ConditionTrait {
    /// Where a memory group of cgroup v1 can be made; under v2 the units' MemoryMax does the same.
    package static var memoryGroup: Self {
        .enabled("no memory group of cgroup v1 can be made here") {
            let probe = "/sys/fs/cgroup/memory/martlet-probe-\(getpid())"
            guard mkdir(probe, 0o755) == 0 else { return false }
            return rmdir(probe) == 0
        }
    }
}
