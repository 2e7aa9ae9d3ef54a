/* options.h - keywords of Python into the options of the core, by tables. */
#ifndef VRAMSCOPE_PYTHON_OPTIONS_H
#define VRAMSCOPE_PYTHON_OPTIONS_H

#include "core.h"

#include <stdbool.h>
#include <stddef.h>

#include "vramscope/vramscope.h"

enum kind {
    TEXT,      /* str, or None */
    MOMENT,    /* str or int, or None */
    PATH,      /* str, bytes or os.PathLike, or None */
    FLAG,      /* of any truth */
    SIZE,      /* int, or a text that vrs_size reads; None: 0 */
    PLUS,      /* int from 0, or None: one more, 0 for None */
    COUNT,     /* uint32_t from 0; None: 0 */
    THREADS,   /* likewise; None: 1 on a thread that is not the main one */
    DEVICE,    /* int, "1", "cuda:1", or what has an index; None: all */
    TEXTS,     /* iterable of str, into a pointer and a count */
    TABLES,    /* the same, or one str alone */
    PAIRS,     /* iterable of "NAME=VALUE" or of (name, value), likewise */
    LIMITS,    /* mapping or pairs of names and values, into struct vrs_limit and a count */
    ROOM,      /* int or a text, into bytes plus 1; or "5%", into millionths plus 1 */
    RECORDING, /* a Recording, in use as long as the call */
    RECORDINGS,
    FORMAT, /* "svg" or "png" */
    OUTPUT  /* a PyObject *, borrowed: where the bytes go; None: nowhere */
};

/* A member of the frame of a call; `more` is that of its count, or of what ROOM has besides. */
struct option {
    const char *name;
    enum kind kind;
    size_t offset, more;
};

/* How a method is called: the first options may be given by position. */
struct signature {
    const char *name;
    const struct option *option; /* ended by a name of NULL */
    unsigned required, positional;
    bool rest; /* all positions go into the first option, of the kind TEXTS */
};

/* One call.  What its frame points to is kept until it is over. */
struct call {
    struct core_state *state;
    const char *name;
    char *frame;
    PyObject *kept;       /* list */
    struct opened **used; /* of recordings, in use */
    size_t uses;
};

/* False with an exception set; arguments_end comes after it in any case. */
bool arguments_take(struct call *c, struct core_state *state, void *frame,
                    const struct signature *s, PyObject *args, PyObject *kwargs);
/* A recording that the call is about; false with an exception set. */
bool arguments_use(struct call *c, PyObject *recording, const struct vrs_recording **ret);
void arguments_end(struct call *c);

/* The members that all questions have besides their own, those that write a file too. */
#define OPTIONS_ABOUT(options)                                                                     \
    { "user_root", PATH, offsetof(options, about.user_root), 0 },                                  \
        { "library", TEXT, offsetof(options, about.library), 0 },                                  \
    {                                                                                              \
        "device", DEVICE, offsetof(options, about.device), 0                                       \
    }
#define OPTIONS_END                                                                                \
    {                                                                                              \
        NULL, TEXT, 0, 0                                                                           \
    }

#endif
