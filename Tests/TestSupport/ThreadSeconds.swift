import Glibc

/// The processor time that this thread has taken, in seconds: not the clock's, so that other work on the machine changes nothing.
package func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
