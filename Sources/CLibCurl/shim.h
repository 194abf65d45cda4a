#pragma once
#include <curl/curl.h>

// Swift cannot call variadic functions: one inline shim for each kind of argument.

static inline CURLcode clibcurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode clibcurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*clibcurl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*clibcurl_seek_callback)(void *context, curl_off_t offset, int origin);

static inline CURLcode clibcurl_set_data_callback(CURL *handle, CURLoption option, clibcurl_data_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode clibcurl_set_seek_callback(CURL *handle, clibcurl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode clibcurl_set_debug_callback(CURL *handle, curl_debug_callback value) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLcode clibcurl_set_progress_callback(CURL *handle, curl_xferinfo_callback value) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode clibcurl_set_open_socket_callback(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode clibcurl_set_close_socket_callback(CURL *handle, curl_closesocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

// Declared as 16 bytes long, it is as long as addrlen says: a copy would cut an IPv6 address short.
static inline const struct sockaddr *clibcurl_socket_address(const struct curl_sockaddr *address) {
    return &address->addr;
}

static inline CURLcode clibcurl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode clibcurl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode clibcurl_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode clibcurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// The result of a finished transfer: CURLMsg holds it in a union.
static inline CURLcode clibcurl_message_result(CURLMsg *message) {
    return message->data.result;
}

// Macros with casts are not imported.
static inline long clibcurl_auth_basic(void) { return (long)CURLAUTH_BASIC; }
static inline CURLINFO clibcurl_content_length(void) { return CURLINFO_CONTENT_LENGTH_DOWNLOAD_T; }
static inline long clibcurl_ssh_auth_public_key(void) { return CURLSSH_AUTH_PUBLICKEY; }
static inline long clibcurl_ssh_auth_password(void) { return CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD; }
static inline size_t clibcurl_pause(void) { return CURL_WRITEFUNC_PAUSE; }
static inline size_t clibcurl_abort(void) { return CURL_READFUNC_ABORT; }
