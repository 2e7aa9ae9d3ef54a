/* sink.h - where the core writes: memory, or a file that appears when it is whole; and its notes.
 */
#ifndef VRAMSCOPE_PYTHON_SINK_H
#define VRAMSCOPE_PYTHON_SINK_H

#include "core.h"

#include <stdbool.h>
#include <stddef.h>

#include "vramscope/vramscope.h"

/* What the core notes while nobody holds the interpreter's lock; each text once. */
struct notes {
    char **text;
    size_t count;
    bool lost; /* no memory for one */
};
void notes_take(void *arg, const char *text);
/* Warns of each; false with an exception set, which a filter of the program may have made of one.
 */
bool notes_warn(struct core_state *state, const struct notes *n);
void notes_free(struct notes *n);

struct sink {
    struct vrs_sink sink; /* for the core */
    struct notes notes;
    struct core_state *state;
    /* In memory. */
    char *at;
    size_t len, room;
    /* In a file; `path` is owned, NULL: in memory.  What is no file, as a pipe, has no temporary.
     */
    PyObject *path;
    char *target, *temporary;
    int fd, error;
};

/* `path`: str, bytes or os.PathLike; NULL or None: memory.  No file may be one of `used`, which are
 * read.  False with an exception set; after true sink_end must come. */
bool sink_begin(struct sink *s, struct core_state *state, PyObject *path,
                struct opened *const *used, size_t uses);
/* The file's name for what writes to no sink; NULL where there is none. */
const char *sink_file(const struct sink *s);
/* Ends it with what the core said: bytes, or the path as str.  NULL with an exception set, and then
 * no file was touched. */
PyObject *sink_end(struct sink *s, enum vrs_status status, const struct vrs_error *err);
/* The same as a str, of what was written to memory. */
PyObject *sink_end_text(struct sink *s, enum vrs_status status, const struct vrs_error *err);

#endif
