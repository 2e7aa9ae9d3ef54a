/* serve_library.h - libmicrohttpd, loaded where pages are served and nowhere else.
 *
 * Linked, it and the ten libraries it brings take longer to start than a small recording takes to
 * be read, and each of them is in every process that reads a stranger's file. */
#ifndef CLI_SERVE_LIBRARY_H
#define CLI_SERVE_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

#define MHD_FUNCTIONS(X)                                                                           \
    X(add_response_header)                                                                         \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(destroy_response)                                                                            \
    X(get_connection_info)                                                                         \
    X(get_connection_values)                                                                       \
    X(queue_response)                                                                              \
    X(set_connection_option)                                                                       \
    X(start_daemon)                                                                                \
    X(stop_daemon)

struct mhd {
#define MHD_DECLARE(name) __typeof__(MHD_##name) *(name);
    MHD_FUNCTIONS(MHD_DECLARE)
#undef MHD_DECLARE
};

/* Its functions, by their names without MHD_; empty before mhd_load. */
extern struct mhd mhd;

/* To be called before there are threads; false when it has said what is missing. */
bool mhd_load(void);

#endif
