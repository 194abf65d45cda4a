#pragma once
#include <stddef.h>

/// A page of docs/ as it was when the program was built.
struct manual_page {
    /// The path beneath docs/ without `.md`.
    const char *path;
    /// The page's bytes, which do not end with NUL.
    const unsigned char *text;
    size_t length;
};

/// Returns the number of pages.
size_t manual_page_count(void);

/// Returns a page; `index` is below manual_page_count().
struct manual_page manual_page(size_t index);
