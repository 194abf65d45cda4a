#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct heartbeat {
    int file;
    int milliseconds;
    char end[4096];
};

/// Allocates nothing: another thread may fork at any time, and its child must find the allocator unlocked.
static void *beat(void *argument) {
    struct heartbeat *heartbeat = argument;
    struct timespec pause = {heartbeat->milliseconds / 1000, (heartbeat->milliseconds % 1000) * 1000000L};
    int is_ended = 0;
    for (uint64_t count = 1;; count++) {
        char text[21];
        uint64_t rest = count;
        for (int place = 19; place >= 0; place--) {
            text[place] = (char)('0' + rest % 10);
            rest /= 10;
        }
        text[20] = '\n';
        // A write that fails is no heartbeat, which is what the reader is to conclude.
        if (pwrite(heartbeat->file, text, sizeof text, 0) == sizeof text) fdatasync(heartbeat->file);
        if (!is_ended && access(heartbeat->end, F_OK) == 0) {
            is_ended = 1;
            kill(getpid(), SIGTERM);
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int clinux_begin_heartbeat(const char *file, const char *end, int milliseconds) {
    struct heartbeat *heartbeat = calloc(1, sizeof *heartbeat);
    if (heartbeat == NULL || strlen(end) >= sizeof heartbeat->end) {
        free(heartbeat);
        return ENAMETOOLONG;
    }
    strcpy(heartbeat->end, end);
    heartbeat->milliseconds = milliseconds;
    heartbeat->file = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    int number = heartbeat->file < 0 ? errno : 0;
    pthread_attr_t attributes;
    if (number == 0) number = pthread_attr_init(&attributes);
    if (number == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        sigset_t all, before;
        sigfillset(&all);
        // The thread inherits the blocked signals, so that every signal goes to the first thread.
        pthread_sigmask(SIG_BLOCK, &all, &before);
        pthread_t thread;
        number = pthread_create(&thread, &attributes, beat, heartbeat);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (number != 0) {
        if (heartbeat->file >= 0) close(heartbeat->file);
        free(heartbeat);
    }
    return number;
}

/// Takes a signal in the one thread that does not block it, and sends it again when no thread is left that does not. It then stays pending.
static void hold(int number) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    kill(getpid(), number);
    // The thread ends here: it waited for signals alone.
    for (;;) pause();
}

int clinux_block_termination(void) {
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = hold;
    sigfillset(&action.sa_mask);
    // The first thread of a program of libdispatch waits for ever with no signal blocked (dispatch_main), whatever it blocked before.
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&set, numbers[i]);
        if (sigaction(numbers[i], &action, NULL) != 0) return errno;
    }
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int clinux_termination_is_pending(void) {
    sigset_t set;
    return sigpending(&set) == 0 && sigismember(&set, SIGTERM) == 1;
}
