import Glibc

/// Returns the processor time of this thread, in seconds. Unlike a clock's time it does not depend on other work on the machine.
package func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
