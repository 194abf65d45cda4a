// A process that answers first, and what becomes of it: a line a step, `what: policy`. Compiled with CLinuxAnswering.c by AnsweringTests.
#define _GNU_SOURCE
#include "CLinuxAnswering.h"

#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *policy(void) {
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    return policy == SCHED_RR ? "first" : policy == SCHED_OTHER ? "ordinary" : "another";
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// Runs without a wait until it goes first no more, or has for 5 s; within `at_most` seconds of a processor's time.
static void run(const char *what, double at_most) {
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID), taken = 0;
    while (sched_getscheduler(0) == (SCHED_RR | SCHED_RESET_ON_FORK) && taken < 5)
        taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    printf("%s: %s%s\n", what, policy(), taken < at_most ? "" : ", late");
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    clinux_answer_first();
    printf("unasked: %s\n", policy());
    clinux_answer_soon();
    clinux_answer_first();
    printf("asked: %s\n", policy());
    if (fork() == 0) {
        struct rlimit time, priority;
        printf("child: %s\n", policy());
        clinux_answer_as_usual();
        getrlimit(RLIMIT_RTTIME, &time);
        getrlimit(RLIMIT_RTPRIO, &priority);
        printf("its limits: %s, %s\n", time.rlim_cur == time.rlim_max ? "none" : "some",
            priority.rlim_max == 0 ? "no priority" : "a priority");
        _exit(0);
    }
    wait(NULL);
    // After 20 ms and a tick, which are at most 10 ms apart; a machine whose processors others have counts theirs, too.
    run("after a run", 1);
    double begin = seconds(CLOCK_MONOTONIC);
    clinux_answer_first();
    // Where the machine let this process stand for so long, nothing can be said.
    printf("soon after: %s\n", seconds(CLOCK_MONOTONIC) - begin < 0.9 ? policy() : "ordinary");
    while (sched_getscheduler(0) != (SCHED_RR | SCHED_RESET_ON_FORK) && seconds(CLOCK_MONOTONIC) - begin < 30) {
        usleep(10 * 1000);
        clinux_answer_first();
    }
    printf("later: %s%s\n", policy(), seconds(CLOCK_MONOTONIC) - begin < 0.9 ? ", early" : "");
    // The kernel moves the limit by a second each time; here it has been set again.
    run("after another run", 1);
    return 0;
}
