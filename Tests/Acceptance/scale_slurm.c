// sbatch, squeue, scancel, sinfo and scontrol of the simulated cluster, by the name that it is called by. It passes its words to `scale_cluster.py`,
// which listens on `socket` beside the program, and prints the answer: a byte with the exit status, then the text.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char own[sizeof address.sun_path];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return 70;
    own[length] = 0;
    *strrchr(own, '/') = 0;
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", own) >= (int)sizeof address.sun_path) return 70;
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0) {
        fputs("slurm: error: Unable to contact slurm controller (connect failure)\n", stderr);
        return 1;
    }
    char *name = strrchr(words[0], '/');
    words[0] = name ? name + 1 : words[0];
    static char request[1 << 16];
    size_t size = 0;
    for (int index = 0; index < count; index++) {
        size_t bytes = strlen(words[index]) + 1;
        if (size + bytes > sizeof request) return 70;
        memcpy(request + size, words[index], bytes);
        size += bytes;
    }
    if (write(peer, request, size) != (ssize_t)size || shutdown(peer, SHUT_WR) != 0) return 70;
    static char answer[1 << 16];
    int status = -1;
    ssize_t part;
    while ((part = read(peer, answer, sizeof answer)) > 0) {
        char *text = answer;
        if (status < 0) {
            status = (unsigned char)*text++;
            part--;
        }
        if (part && write(status ? 2 : 1, text, part) != part) return 70;
    }
    return status < 0 ? 70 : status;
}
