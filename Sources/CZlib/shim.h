#pragma once
#include <zlib.h>

// deflateInit2 is a macro. 16 more than the window's bits make a gzip header and trailer (zlib.h).
static inline int martlet_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
