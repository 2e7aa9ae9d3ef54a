/* serve_library.c - the functions of libmicrohttpd, looked up by their names. */
#include "serve/serve_library.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "view.h"

/* The name of all versions since 0.9.71, whose header we are built with, and of 1.0. */
#ifdef __APPLE__
#define LIBRARY "libmicrohttpd.12.dylib"
#else
#define LIBRARY "libmicrohttpd.so.12"
#endif

static const struct {
    const char *name;
    size_t at; /* in struct mhd */
} functions[] = {
    { "MHD_add_response_header", offsetof(struct mhd, add_response_header) },
    { "MHD_create_response_from_buffer", offsetof(struct mhd, create_response_from_buffer) },
    { "MHD_create_response_from_callback", offsetof(struct mhd, create_response_from_callback) },
    { "MHD_destroy_response", offsetof(struct mhd, destroy_response) },
    { "MHD_get_connection_info", offsetof(struct mhd, get_connection_info) },
    { "MHD_get_connection_values", offsetof(struct mhd, get_connection_values) },
    { "MHD_queue_response", offsetof(struct mhd, queue_response) },
    { "MHD_set_connection_option", offsetof(struct mhd, set_connection_option) },
    { "MHD_start_daemon", offsetof(struct mhd, start_daemon) },
    { "MHD_stop_daemon", offsetof(struct mhd, stop_daemon) },
};
static_assert(sizeof functions / sizeof *functions == sizeof(struct mhd) / sizeof(void (*)(void)),
              "a function that is not looked up would be called as NULL");

struct mhd mhd;

bool view_can_serve(char *why, size_t size)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;
    if (library == NULL) {
        snprintf(why, size, "view --serve needs it: %s", dlerror());
        return false;
    }
    for (size_t i = 0; missing == NULL && i < sizeof functions / sizeof *functions; i++)
        missing = dlsym(library, functions[i].name) == NULL ? functions[i].name : NULL;
    dlclose(library);
    if (missing != NULL)
        snprintf(why, size, "view --serve needs it: %s has no %s", LIBRARY, missing);
    return missing == NULL;
}

bool mhd_load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        /* It may also be there and be of another machine, or lack one that it needs itself. */
        message("--serve needs libmicrohttpd: %s; install it (Debian and Ubuntu: "
                "libmicrohttpd12), or write the page with -o and copy it",
                dlerror());
        return false;
    }
    struct mhd found;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (function == NULL) {
            message("%s has no %s: install libmicrohttpd 0.9.71 or later", LIBRARY,
                    functions[i].name);
            dlclose(library);
            return false;
        }
        /* ISO C has no conversion from an object's address to a function's. */
        memcpy((char *)&found + functions[i].at, &function, sizeof function);
    }
    mhd = found;
    return true;
}
