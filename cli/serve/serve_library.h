/* serve_library.h - libmicrohttpd, loaded where pages are served and nowhere else.
 *
 * Linked, it and the ten libraries it brings take longer to start than a small recording takes to
 * be read, and each of them is in every process that reads a stranger's file. */
#ifndef CLI_SERVE_LIBRARY_H
#define CLI_SERVE_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

/* Its functions, by their names without MHD_; serve_library.c has a row for each. */
struct mhd {
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
    __typeof__(MHD_create_response_from_callback) *create_response_from_callback;
    __typeof__(MHD_destroy_response) *destroy_response;
    __typeof__(MHD_get_connection_info) *get_connection_info;
    __typeof__(MHD_get_connection_values) *get_connection_values;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_set_connection_option) *set_connection_option;
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
};

/* Empty before mhd_load. */
extern struct mhd mhd;

/* To be called before there are threads; false when it has said what is missing. */
bool mhd_load(void);

#endif
