#define _GNU_SOURCE

#include "CLinux.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void clinux_failpoint(const char *name, const char *phase) {
#ifdef DEBUG
    const char *file = getenv("MARTLET_FAILPOINT");
    if (file == NULL) return;
    char wanted[256] = "", here[256], hit[4096];
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    ssize_t count = read(descriptor, wanted, sizeof wanted - 1);
    close(descriptor);
    snprintf(here, sizeof here, "%s %s\n", name, phase);
    if (count <= 0 || strcmp(wanted, here) != 0) return;
    snprintf(hit, sizeof hit, "%s.hit", file);
    // Only one gets it away.
    if (rename(file, hit) != 0) return;
    descriptor = open(hit, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (descriptor >= 0) {
        dprintf(descriptor, "%d\n", getpid());
        close(descriptor);
    }
    kill(getpid(), SIGSTOP);
#else
    (void)name;
    (void)phase;
#endif
}
