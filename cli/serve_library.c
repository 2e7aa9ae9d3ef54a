/* serve_library.c - the functions of libmicrohttpd, looked up by their names. */
#include "serve_library.h"

#include <dlfcn.h>
#include <string.h>

#include "message.h"

/* The name of all versions since 0.9.71, whose header we are built with, and of 1.0. */
#ifdef __APPLE__
#define LIBRARY "libmicrohttpd.12.dylib"
#else
#define LIBRARY "libmicrohttpd.so.12"
#endif

struct mhd mhd;

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
#define MHD_FIND(name)                                                                             \
    void *at_##name = dlsym(library, "MHD_" #name);                                                \
    memcpy(&found.name, &at_##name, sizeof found.name);                                            \
    if (at_##name == NULL) {                                                                       \
        message("%s has no MHD_" #name ": install libmicrohttpd 0.9.71 or later", LIBRARY);        \
        dlclose(library);                                                                          \
        return false;                                                                              \
    }
    MHD_FUNCTIONS(MHD_FIND)
#undef MHD_FIND
    mhd = found;
    return true;
}
