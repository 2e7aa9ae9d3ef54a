/* sqlite_library.c - the functions of SQLite, looked up by their names. */
#include "render/export/sqlite_library.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef __APPLE__
#define LIBRARY "libsqlite3.dylib"
#else
#define LIBRARY "libsqlite3.so.0"
#endif

static const struct {
    const char *name;
    size_t at; /* in struct sqlite_calls */
} functions[] = {
    { "sqlite3_bind_int64", offsetof(struct sqlite_calls, bind_int64) },
    { "sqlite3_bind_null", offsetof(struct sqlite_calls, bind_null) },
    { "sqlite3_bind_text64", offsetof(struct sqlite_calls, bind_text64) },
    { "sqlite3_close", offsetof(struct sqlite_calls, close) },
    { "sqlite3_errcode", offsetof(struct sqlite_calls, errcode) },
    { "sqlite3_errmsg", offsetof(struct sqlite_calls, errmsg) },
    { "sqlite3_exec", offsetof(struct sqlite_calls, exec) },
    { "sqlite3_finalize", offsetof(struct sqlite_calls, finalize) },
    { "sqlite3_open_v2", offsetof(struct sqlite_calls, open_v2) },
    { "sqlite3_prepare_v2", offsetof(struct sqlite_calls, prepare_v2) },
    { "sqlite3_reset", offsetof(struct sqlite_calls, reset) },
    { "sqlite3_step", offsetof(struct sqlite_calls, step) },
};
static_assert(sizeof functions / sizeof *functions ==
                  sizeof(struct sqlite_calls) / sizeof(void (*)(void)),
              "a function that is not looked up would be called as NULL");

enum vrs_status sqlite_load(struct sqlite_library *ret, struct vrs_error *err)
{
    struct sqlite_library found = { .handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    if (found.handle == NULL)
        /* It may also be there and be of another machine, or lack one that it needs itself. */
        return vrs_fail(err, VRS_UNSUPPORTED, "%.200s", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(found.handle, functions[i].name);
        if (function == NULL) {
            dlclose(found.handle);
            return vrs_fail(err, VRS_UNSUPPORTED, "%s has no %s, so it is older than 3.8.7",
                            LIBRARY, functions[i].name);
        }
        /* ISO C has no conversion from an object's address to a function's. */
        memcpy((char *)&found.calls + functions[i].at, &function, sizeof function);
    }
    *ret = found;
    return VRS_OK;
}

void sqlite_unload(struct sqlite_library *library)
{
    dlclose(library->handle);
}
