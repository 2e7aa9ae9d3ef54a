/* sink.c - bytes of the core into memory or into a file renamed when it is whole; its notes. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

/* Notes. */

void notes_take(void *arg, const char *text)
{
    struct notes *n = arg;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->text[i], text) == 0)
            return;
    char **more = realloc(n->text, (n->count + 1) * sizeof *more);
    size_t len = strlen(text) + 1;
    char *copy = more == NULL ? NULL : malloc(len);
    if (more != NULL)
        n->text = more;
    if (copy == NULL) {
        n->lost = true;
        return;
    }
    memcpy(copy, text, len);
    n->text[n->count++] = copy;
}

bool notes_warn(struct core_state *state, const struct notes *n)
{
    if (n->lost) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < n->count; i++)
        if (PyErr_WarnEx(state->note, n->text[i], 1) != 0)
            return false;
    return true;
}

void notes_free(struct notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->text[i]);
    free(n->text);
    *n = (struct notes){ NULL, 0, false };
}

/* Writing. */

static bool to_memory(struct sink *s, const char *bytes, size_t len)
{
    if (len > s->room - s->len) {
        size_t room = (s->len + len) * 2 + 4096;
        char *grown = realloc(s->at, room);
        if (grown == NULL) {
            s->error = ENOMEM;
            return false;
        }
        s->at = grown;
        s->room = room;
    }
    if (len > 0)
        memcpy(s->at + s->len, bytes, len);
    s->len += len;
    return true;
}

static bool to_file(struct sink *s, const char *bytes, size_t len)
{
    while (len > 0 && s->error == 0) {
        ssize_t wrote = write(s->fd, bytes, len);
        if (wrote >= 0) {
            bytes += wrote;
            len -= (size_t)wrote;
        } else if (errno != EINTR) {
            s->error = errno;
        }
    }
    return s->error == 0;
}

static bool sink_write(void *arg, const char *bytes, size_t len)
{
    struct sink *s = arg;
    return s->path == NULL ? to_memory(s, bytes, len) : to_file(s, bytes, len);
}

/* Files. */

static void forget(struct sink *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->temporary != NULL)
        unlink(s->temporary);
    free(s->temporary);
    free(s->target);
    free(s->at);
    notes_free(&s->notes);
    Py_CLEAR(s->path);
    *s = (struct sink){ .fd = -1 };
}

/* Raises Error; returns NULL. */
static PyObject *failed(const struct sink *s, int error)
{
    struct vrs_error why = { .status = VRS_IO, .offset = UINT64_MAX };
    if (error == ENOMEM)
        return PyErr_NoMemory();
    PyOS_snprintf(why.message, sizeof why.message, "cannot be written: %.60s", strerror(error));
    return raise_error(s->state, &why, s->path);
}

static bool is_one_of(const struct stat *file, struct opened *const *used, size_t uses)
{
    for (size_t i = 0; i < uses; i++) {
        struct stat other;
        if (used[i]->path != NULL && stat(used[i]->path, &other) == 0 &&
            other.st_dev == file->st_dev && other.st_ino == file->st_ino)
            return true;
    }
    return false;
}

/* A name beside the target that no other writer takes: of this process, this object, this moment.
 */
static bool name_temporary(struct sink *s)
{
    const char *slash = strrchr(s->target, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - s->target) + 1;
    size_t room = folder + sizeof ".vramscope-0123456789abcdef-0123456789abcdef";
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    s->temporary = malloc(room);
    if (s->temporary == NULL)
        return false;
    memcpy(s->temporary, s->target, folder);
    PyOS_snprintf(s->temporary + folder, room - folder, ".vramscope-%lx-%llx", (long)getpid(),
                  (unsigned long long)now.tv_sec << 30 | (unsigned long long)now.tv_nsec);
    return true;
}

/* False with errno set.  A new file has the mode that the program's umask leaves, which is asked
 * for by making one; a file that is replaced keeps its mode. */
static bool open_temporary(struct sink *s, const struct stat *old)
{
    enum { TRIES = 16 };
    for (int i = 0; i < TRIES && s->fd < 0; i++) {
        free(s->temporary);
        s->temporary = NULL;
        if (!name_temporary(s)) {
            errno = ENOMEM;
            return false;
        }
        s->fd =
            open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old == NULL ? 0666 : 0600);
        if (s->fd < 0 && errno != EEXIST)
            break;
    }
    if (s->fd < 0) {
        int error = errno;
        free(s->temporary);
        s->temporary = NULL;
        errno = error;
        return false;
    }
    return old == NULL || fchmod(s->fd, old->st_mode & 07777) == 0;
}

/* False with errno set. */
static bool open_file(struct sink *s, const char *path, const struct stat *old)
{
    if (old != NULL && S_ISDIR(old->st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (old != NULL && !S_ISREG(old->st_mode)) {
        /* A device or a pipe cannot be replaced, only written to. */
        s->fd = open(path, O_WRONLY | O_CLOEXEC);
        return s->fd >= 0;
    }
    /* The target of a symbolic link is replaced, not the link. */
    s->target = old == NULL ? strdup(path) : realpath(path, NULL);
    return s->target != NULL && open_temporary(s, old);
}

bool sink_begin(struct sink *s, struct core_state *state, PyObject *path,
                struct opened *const *used, size_t uses)
{
    *s = (struct sink){ .state = state, .fd = -1 };
    s->sink = (struct vrs_sink){ sink_write, s };
    if (path == NULL || path == Py_None)
        return true;
    PyObject *bytes = NULL;
    if (PyUnicode_FSConverter(path, &bytes) == 0)
        return false;
    const char *name = PyBytes_AsString(bytes);
    struct stat old;
    bool exists = stat(name, &old) == 0;
    s->path = PyUnicode_DecodeFSDefault(name);
    if (s->path != NULL && exists && S_ISREG(old.st_mode) && is_one_of(&old, used, uses))
        raise_usage(state, "the file would replace the recording it is made of; name another one");
    else if (s->path != NULL && !open_file(s, name, exists ? &old : NULL))
        failed(s, errno);
    Py_DECREF(bytes);
    if (!PyErr_Occurred())
        return true;
    forget(s);
    return false;
}

const char *sink_file(const struct sink *s)
{
    return s->temporary;
}

/* Closes and renames; false with an exception set. */
static bool finish_file(struct sink *s)
{
    int closed = close(s->fd);
    s->fd = -1;
    if (closed != 0 || (s->temporary != NULL && rename(s->temporary, s->target) != 0)) {
        failed(s, errno);
        return false;
    }
    free(s->temporary);
    s->temporary = NULL;
    return true;
}

/* False with an exception set, where not all was written or somebody minds. */
static bool is_whole(struct sink *s, enum vrs_status status, const struct vrs_error *err)
{
    if (status == VRS_OK)
        return PyErr_CheckSignals() == 0 && notes_warn(s->state, &s->notes);
    /* The sink knows best why a write failed. */
    if (s->error != 0)
        failed(s, s->error);
    else
        raise_error(s->state, err, s->path);
    return false;
}

PyObject *sink_end(struct sink *s, enum vrs_status status, const struct vrs_error *err)
{
    PyObject *made = NULL;
    if (!is_whole(s, status, err))
        made = NULL;
    else if (s->path == NULL)
        made = PyBytes_FromStringAndSize(s->at == NULL ? "" : s->at, (Py_ssize_t)s->len);
    else if (finish_file(s))
        made = Py_NewRef(s->path);
    forget(s);
    return made;
}

PyObject *sink_end_text(struct sink *s, enum vrs_status status, const struct vrs_error *err)
{
    PyObject *made = NULL;
    if (is_whole(s, status, err))
        made =
            PyUnicode_DecodeUTF8(s->at == NULL ? "" : s->at, (Py_ssize_t)s->len, "surrogateescape");
    forget(s);
    return made;
}
