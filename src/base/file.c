/* file.c - opening and reading through the system's own calls. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum vrs_status fail_errno(struct vrs_error *err, const char *what, int code)
{
    /* GNU's strerror_r: thread-safe, and always gives a text. */
    char text[128];
    return vrs_fail(err, VRS_IO, "%s: %s", what, strerror_r(code, text, sizeof text));
}

static bool is_dash(const char *path)
{
    return path[0] == '-' && path[1] == '\0';
}

/* After a call that failed: whether a signal is all that it was, and it is to be made again. */
static bool waits_on(const struct file_wait *wait)
{
    int why = errno;
    bool again = why == EINTR && (wait->go_on == NULL || wait->go_on(wait->arg));
    errno = why;
    return again;
}

enum vrs_status file_open(const char *path, struct file *ret, struct vrs_error *err)
{
    return file_open_for(path, (struct file_wait){ NULL, NULL }, ret, err);
}

enum vrs_status file_open_for(const char *path, struct file_wait wait, struct file *ret,
                              struct vrs_error *err)
{
    struct file f = {
        .fd = STDIN_FILENO,
        .wait = wait,
        .owned = !is_dash(path),
        .size_bytes = UINT64_MAX,
    };
    if (f.owned) {
        do
            f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        while (f.fd < 0 && waits_on(&wait));
        if (f.fd < 0)
            return fail_errno(err, "cannot be opened", errno);
    }
    struct stat st;
    int failed = fstat(f.fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (failed != 0) {
        file_close(&f);
        return fail_errno(err, "cannot be read", failed);
    }
    /* Files in /proc and the like say 0 and have content. */
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        off_t at = f.owned ? 0 : lseek(f.fd, 0, SEEK_CUR);
        if (at >= 0) {
            f.size_bytes = at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
            f.start = (uint64_t)at;
        }
    }
    *ret = f;
    return VRS_OK;
}

void file_close(struct file *f)
{
    if (f->owned)
        close(f->fd);
    *f = (struct file){ .fd = -1 };
}

enum vrs_status file_read(struct file *f, void *to, size_t len, size_t *ret, struct vrs_error *err)
{
    ssize_t got;
    do
        got = read(f->fd, to, len);
    while (got < 0 && waits_on(&f->wait));
    if (got < 0)
        return fail_errno(err, "cannot be read", errno);
    *ret = (size_t)got;
    return VRS_OK;
}

enum vrs_status file_read_at(const struct file *f, uint64_t offset, void *to, size_t len,
                             size_t *ret, struct vrs_error *err)
{
    ssize_t got;
    do
        got = pread(f->fd, to, len, (off_t)(f->start + offset));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail_errno(err, "cannot be read", errno);
    *ret = (size_t)got;
    return VRS_OK;
}

enum vrs_status file_skip(struct file *f, uint64_t len, struct vrs_error *err)
{
    if (lseek(f->fd, (off_t)len, SEEK_CUR) < 0)
        return fail_errno(err, "cannot be read", errno);
    return VRS_OK;
}
