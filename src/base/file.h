/* file.h - a file, pipe or standard input, opened for reading.
 *
 * Nothing is known of a pipe's length, and a regular file may grow or shrink while it is read:
 * `size_bytes` is what it was when it was opened, good for progress and for nothing else. */
#ifndef VRS_BASE_FILE_H
#define VRS_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Asked when a signal interrupts a wait: false gives the wait up, which is a VRS_IO.  Nobody is
 * asked, and the wait goes on, where `go_on` is NULL. */
struct file_wait {
    bool (*go_on)(void *arg);
    void *arg;
};

struct file {
    int fd;
    struct file_wait wait;
    bool owned;          /* standard input is not closed */
    uint64_t size_bytes; /* UINT64_MAX: not known */
    uint64_t start;      /* where reading began, where the length is known */
};

/* Opens `path`; "-" is standard input.  Opening a named pipe waits for its writer.  A folder,
 * or what cannot be opened, is a VRS_IO that says why. */
enum vrs_status file_open(const char *path, struct file *ret, struct vrs_error *err) MUST_CHECK;
enum vrs_status file_open_for(const char *path, struct file_wait wait, struct file *ret,
                              struct vrs_error *err) MUST_CHECK;

/* Accepts a closed or zeroed one. */
void file_close(struct file *f);

/* 1 to `len` bytes into `to`, as many as one read gives; 0 is the end. */
enum vrs_status file_read(struct file *f, void *to, size_t len, size_t *ret,
                          struct vrs_error *err) MUST_CHECK;

/* Of a file whose length is known: the same from `offset` on, counted from where reading began,
 * whatever is read elsewhere at that time; and going on with file_read `len` bytes further on. */
enum vrs_status file_read_at(const struct file *f, uint64_t offset, void *to, size_t len,
                             size_t *ret, struct vrs_error *err) MUST_CHECK;
enum vrs_status file_skip(struct file *f, uint64_t len, struct vrs_error *err) MUST_CHECK;

#endif
