#pragma once
#include <git2.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif
#include <git2/sys/credential.h>
#include <git2/sys/path.h>
#include <git2/sys/repository.h>
#include <git2/sys/stream.h>
#include <git2/sys/transport.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>

// git_libgit2_opts is variadic, which Swift cannot call: one function an option and argument type.

static inline int clibgit2_set_option_int(int option, int value) { return git_libgit2_opts(option, value); }
static inline int clibgit2_set_option_size(int option, size_t value) { return git_libgit2_opts(option, value); }
static inline int clibgit2_set_extensions(const char **names, size_t count) {
    return git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, count);
}
static inline int clibgit2_set_search_path(int level, const char *path) {
    return git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, path);
}

// A stream of ours, laid out as libgit2's own git_socket_stream (src/libgit2/streams/socket.h): its ssh transport takes
// the socket out of the structure instead of asking the stream to read.
typedef struct {
    git_stream parent;
    char *host;
    char *port;
    int socket;
} clibgit2_socket_stream;

// A way to servers of ours, and one of its requests, as libgit2 holds them: its own table, then our object.
typedef struct {
    git_smart_subtransport parent;
    void *object;
} clibgit2_subtransport;

typedef struct {
    git_smart_subtransport_stream parent;
    void *object;
} clibgit2_subtransport_stream;

// Milliseconds since the peer last sent anything, -1 when the kernel does not say (no TCP).
static inline long clibgit2_milliseconds_since_last_receive(int socket) {
    struct tcp_info information;
    socklen_t length = sizeof information;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &information, &length) != 0) return -1;
    return (long)information.tcpi_last_data_recv;
}

// fcntl is variadic too.
static inline int clibgit2_set_blocking(int socket) {
    int flags = fcntl(socket, F_GETFL);
    return flags < 0 ? -1 : fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
}
