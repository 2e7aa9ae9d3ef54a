/* vramscope.h - read recordings of GPU memory, print what was found; what can be asked of a
 * recording is in snapshot.h.
 *
 * A struct vrs_file is what was opened: one recording, or several where an HTML page holds
 * several snapshots.  A finished recording is read-only and may be read by many threads.  A
 * struct vrs_result is the answer of one analysis; it holds no pointer into the file, which may
 * be closed before it.  Nothing here prints, exits or keeps a global.
 *
 * A call that can fail returns a status, takes `err` last (NULL to do without), and writes its
 * outputs only on success.  Options are structs whose zero value is the default and whose first
 * member is their size: `struct vrs_open_options o = { .size = sizeof o };`; NULL is all
 * defaults.  Closing accepts NULL. */
#ifndef VRAMSCOPE_H
#define VRAMSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VRS_API __attribute__((visibility("default")))
#else
#define VRS_API
#endif

struct vrs_file;
struct vrs_recording;
struct vrs_result;

/* Limits on hostile input; 0 is the default, which stands behind each.  No honest file reaches a
 * default.  A file that passes a limit fails with VRS_LIMIT; asking for more than can be had is
 * VRS_USAGE. */
struct vrs_limits {
    size_t size;
    uint64_t nesting;        /* nested containers: 64 */
    uint64_t string_bytes;   /* one string: 16 MiB */
    uint64_t strings_bytes;  /* all distinct strings: 4 GiB - 1 */
    uint64_t items;          /* rows of one table and entries of the memo: 2^28 - 1 */
    uint64_t unpacked_bytes; /* after decompression: 64 GiB */
    uint64_t frames;         /* frames in one stack, longer ones are cut: 65,535 */
};

/* Whether a recording is replayed through the model of the allocator, which gives the columns
 * block_sizes.bytes and .source, and exact allocated and active bytes where it agrees.  The first
 * question that needs it takes the time, and may fail with VRS_NOMEM. */
enum vrs_replay_when {
    VRS_REPLAY_AUTO, /* devices of up to 200,000 events; blocks of longer ones are rounded */
    VRS_REPLAY_ALWAYS,
    VRS_REPLAY_NEVER /* the columns of block_sizes are then there, and empty */
};

/* A call that asks for more threads gets so many. */
enum { VRS_THREADS_MOST = 64 };

struct vrs_open_options {
    size_t size;
    const struct vrs_limits *limits; /* NULL: all defaults */
    /* Called now and then with the stored bytes read so far and their total (0: not known).
     * Where a signal interrupts a wait for bytes it is called with the same as before, in
     * vrs_open.  Returning false cancels the call, which then fails with VRS_IO. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    enum vrs_replay_when replay;
    /* That reading and one question about a recording may use, this one among them; 0: one for each
     * processor.  Jobs of vrs_parallel set 1, or each of them starts more. */
    uint32_t threads;
};

/* Opens a path; "-" is standard input.  Pipes work. */
VRS_API enum vrs_status vrs_open(const char *path, const struct vrs_open_options *options,
                                 struct vrs_file **ret, struct vrs_error *err);
/* Ends the recordings, columns and strings of the file. */
VRS_API void vrs_close(struct vrs_file *file);

/* The i-th recording; fails with what was wrong with that entry (i < vrs_count). */
VRS_API enum vrs_status vrs_recording(const struct vrs_file *file, uint32_t i,
                                      const struct vrs_recording **ret, struct vrs_error *err);

/* Of an answer to a question of yes or no; others have none. */
enum vrs_verdict {
    VRS_NO_VERDICT,
    /* vrs_oom: an out-of-memory event was found; vrs_diff: the limit is kept; vrs_check: every
     * limit holds */
    VRS_YES,
    VRS_NO,
    VRS_UNDECIDED /* vrs_check: no limit is exceeded, and one at least could not be decided */
};
VRS_API enum vrs_verdict vrs_verdict(const struct vrs_result *result);

/* Where text goes: `write` returns false when it could not take all of it. */
struct vrs_sink {
    bool (*write)(void *arg, const char *bytes, size_t len);
    void *arg;
};

enum vrs_format {
    VRS_TEXT,
    VRS_JSON,
    VRS_SNAPSHOT, /* of vrs_replay with keep_run: a pickle as PyTorch writes it */
    VRS_JUNIT,    /* of vrs_check: JUnit XML */
    VRS_MARKDOWN, /* of vrs_check and vrs_report: a summary for a pull request */
    VRS_SARIF,    /* of vrs_check: 2.1.0, for code scanning */
    VRS_CSV /* the rows of the answer's table, of all files and devices, below a line of names:
             * see docs/numbers.md */
};

struct vrs_write_options {
    size_t size;
    enum vrs_format format;
    uint32_t width; /* columns of the terminal; 0: 80 */
    bool colour;    /* ANSI colours in VRS_TEXT */
    bool ascii;     /* no character outside ASCII in pictures */
    bool picture;   /* the timeline as an area; else one line */
    uint32_t rows;  /* rows of a table; 0: as many as suit the answer in VRS_TEXT, else all */
    bool stacks;    /* stacks under the rows of VRS_TEXT: their frames of Python, the operator and
                     * the node of autograd */
    /* Is told, line by line, why devices have fewer rows in VRS_CSV than they might, or none; NULL:
     * nobody is.  The text lives as long as the call. */
    void (*note)(void *arg, const char *text);
    void *note_arg;
    int64_t device;  /* commands to type in VRS_TEXT keep to this device; plus 1; 0: to all */
    bool all_ranks;  /* VRS_TEXT has a page for each of many devices, not of the worst alone */
    bool all_frames; /* stacks, with the frames of the interpreter and of libraries in C++ */
};
/* Writes a result in pieces; a sink that refuses one is asked no more, and the call fails with
 * VRS_IO. */
VRS_API enum vrs_status vrs_write(const struct vrs_result *result,
                                  const struct vrs_write_options *options,
                                  const struct vrs_sink *sink, struct vrs_error *err);
VRS_API void vrs_result_free(struct vrs_result *result);

/* Recordings of a file, those that could not be read among them. */
VRS_API uint32_t vrs_count(const struct vrs_file *file);

/* The name of the i-th entry of an HTML page, "" for a file that is one recording; lives as long as
 * the file. */
VRS_API const char *vrs_entry_name(const struct vrs_file *file, uint32_t i);

/* Opens bytes in memory, which must stay until the call returns, or a stream of them: `read`
 * returns the number of bytes it gave, 0 at the end, negative on failure. */
VRS_API enum vrs_status vrs_open_bytes(const void *bytes, size_t len, const char *name,
                                       const struct vrs_open_options *options,
                                       struct vrs_file **ret, struct vrs_error *err);
VRS_API enum vrs_status vrs_open_stream(int64_t (*read)(void *arg, void *bytes, size_t len),
                                        void *arg, const char *name,
                                        const struct vrs_open_options *options,
                                        struct vrs_file **ret, struct vrs_error *err);

/* Joins results of one kind into the answer for several files: of reports one line a rank, then
 * the totals; VRS_USAGE where files were given equal ranks.  `results` may be freed afterwards, and
 * are to be: a set shares their memory, so they and it are freed by one thread at a time. */
VRS_API enum vrs_status vrs_merge(const struct vrs_result *const *results, uint32_t count,
                                  struct vrs_result **ret, struct vrs_error *err);

/* Columns.  A name is "table.column", as "events.size"; docs/formats.md lists them. */
enum vrs_type {
    VRS_U8,
    VRS_U16,
    VRS_U32,
    VRS_U64,
    VRS_I64,
    VRS_F64,
    VRS_STRINGS, /* of results: uint32_t, ids for vrs_result_string */
    VRS_LIST /* of results: uint64_t, where each list begins among the rows of all, and behind the
                last one where that ends */
};

struct vrs_span {
    const void *data; /* `count` values of `type`; lives as long as the file or the result */
    uint64_t count;
    enum vrs_type type;
    /* Of each value whether it is known, where no value of the type can say so (VRS_I64, VRS_F64,
     * VRS_LIST); NULL: all bits of a value that is not known are set. */
    const uint8_t *valid;
};
VRS_API enum vrs_status vrs_column(const struct vrs_recording *recording, const char *name,
                                   struct vrs_span *ret, struct vrs_error *err);

/* All columns by number: NULL when there is no i-th. */
VRS_API const char *vrs_column_table(uint32_t i);
VRS_API const char *vrs_column_name(uint32_t i);

/* A string of the recording by id (a row of "strings"), not ended by a NUL; lives as long as the
 * file.  NULL when there is none. */
VRS_API const char *vrs_string(const struct vrs_recording *recording, uint32_t id, size_t *ret_len);

/* The rows of an answer as columns.  A name is the path of JSON members, as
 * "devices.result.sites.slope_bytes": the rows of all files and devices stand behind each other.  A
 * list has the offsets of its rows ("devices.result.sites"), and so has an object whose names come
 * from the recording; a list of plain values has them in ".value"; an object says by 0 or 1 whether
 * it is null.  A stack is a row of the file's "stacks".  Columns are made when they are
 * first asked for and live as long as the result, which one thread at a time may ask. */
VRS_API enum vrs_status vrs_result_column(struct vrs_result *result, const char *name,
                                          struct vrs_span *ret, struct vrs_error *err);
/* The name of the i-th; NULL when there is none. */
VRS_API const char *vrs_result_column_name(struct vrs_result *result, uint32_t i);
/* A string of its columns by id, not ended by a NUL; NULL when there is none. */
VRS_API const char *vrs_result_string(const struct vrs_result *result, uint32_t id,
                                      size_t *ret_len);

/* Runs job(arg, 0) … job(arg, count - 1) on `threads` threads (0: one for each processor), this
 * one among them.  After each job `finished` (NULL: nothing) hears how many are; no two calls of
 * it overlap. */
VRS_API enum vrs_status vrs_parallel(uint32_t threads, uint32_t count,
                                     void (*job)(void *arg, uint32_t i),
                                     void (*finished)(void *arg, uint32_t jobs), void *arg,
                                     struct vrs_error *err);

/* All of a text as the bytes of a size: "4096", "512MiB", "24GB", "1.5 GiB".  False, with `*ret`
 * untouched, where it is none. */
VRS_API bool vrs_size(const char *text, uint64_t *ret);

/* The other way, as texts for people have it: "512 B", "-62.31 GiB".  "" when out of memory. */
#define VRS_SIZE_TEXT 32
VRS_API void vrs_size_text(int64_t bytes, char ret[VRS_SIZE_TEXT]);

/* All of a text as a share in millionths: "5%", "2.5%".  False, with `*ret` untouched, where it is
 * none. */
VRS_API bool vrs_share(const char *text, uint64_t *ret);

/* All of a text as nanoseconds: "120ms", "1.5 s", "5us".  False, with `*ret` untouched, where it is
 * none. */
VRS_API bool vrs_duration(const char *text, int64_t *ret);

/* A limit for a change, as the options of vrs_diff, vrs_trace_diff and vrs_compare have it, of one
 * kind: plus 1, since none at all is a limit too; those of the other kinds are 0. */
struct vrs_fail_over {
    uint64_t millionths; /* of what was before */
    uint64_t bytes;
    int64_t ns;
};

/* All of a text as such a limit: "5%", "512MiB", "5ms".  False, with `*ret` untouched, where it is
 * none. */
VRS_API bool vrs_read_fail_over(const char *text, struct vrs_fail_over *ret);

/* A limit of a check. */
struct vrs_limit {
    const char *name;  /* an option of `vramscope check` without its dashes: "max-peak", "no-oom" */
    const char *value; /* "24GiB", "activation=8GiB", "105%"; NULL where the limit has none */
};

/* Whether a file is a page or a picture that vrs_view, vrs_index or vrs_picture wrote, by a mark
 * near its beginning, or a JSON document of one of our schemas; one that cannot be read, or has no
 * name ("-"), is none. */
VRS_API bool vrs_is_own(const char *path);

/* "MAJOR.MINOR.PATCH" of the library. */
VRS_API const char *vrs_version(void);

#ifdef __cplusplus
}
#endif
#endif
