/* vramscope.h - read recordings of GPU memory, analyse them, print what was found.
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

/* Whether opening also replays each recording through the model of the allocator, which gives the
 * columns block_sizes.bytes and .source, and exact allocated and active bytes where it agrees. */
enum vrs_replay_when {
    VRS_REPLAY_AUTO, /* devices of up to 200,000 events; blocks of longer ones are rounded */
    VRS_REPLAY_ALWAYS,
    VRS_REPLAY_NEVER /* the columns of block_sizes are then there, and empty */
};

struct vrs_open_options {
    size_t size;
    const struct vrs_limits *limits; /* NULL: all defaults */
    /* Called now and then with the stored bytes read so far and their total (0: not known).
     * Returning false cancels the call, which then fails with VRS_IO. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    enum vrs_replay_when replay;
};

/* The calls everyone needs. */

/* Opens a path; "-" is standard input.  Pipes work. */
VRS_API enum vrs_status vrs_open(const char *path, const struct vrs_open_options *options,
                                 struct vrs_file **ret, struct vrs_error *err);
/* Ends the recordings, columns and strings of the file. */
VRS_API void vrs_close(struct vrs_file *file);

/* The i-th recording; fails with what was wrong with that entry (i < vrs_count). */
VRS_API enum vrs_status vrs_recording(const struct vrs_file *file, uint32_t i,
                                      const struct vrs_recording **ret, struct vrs_error *err);

/* What a recording is, how far it can be trusted, its curves, peak and culprits. */
struct vrs_report_options {
    size_t size;
    const char *path;      /* shown as the file's name; NULL: the path it was opened with */
    const char *user_root; /* frames under this folder are the user's own */
    const char *library;   /* frames whose path matches this glob are not */
    int64_t device;        /* one device's number plus 1; 0: all */
};
VRS_API enum vrs_status vrs_report(const struct vrs_recording *recording,
                                   const struct vrs_report_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

/* Who held the memory at one moment. */
struct vrs_peak_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *at;  /* "N", "start", "end", "peak" (default), "oom", "oom:k", "12.5s" */
    const char *by;  /* "culprit" (default), "owner", "site", "file", "function", "module", "size",
                        "pool", "stream", "age" */
    const char *key; /* of sites: "K0" to "K3"; default "K1" */
};
VRS_API enum vrs_status vrs_peak(const struct vrs_recording *recording,
                                 const struct vrs_peak_options *options, struct vrs_result **ret,
                                 struct vrs_error *err);

/* VRS_USAGE where vrs_peak would refuse these words of whatever recording; a moment that only some
 * recordings have is accepted. */
VRS_API enum vrs_status vrs_peak_check(const struct vrs_peak_options *options,
                                       struct vrs_error *err);

/* Does the model of the caching allocator reproduce the recording, and what would other settings,
 * another device or changed code have done? */
struct vrs_replay_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    /* Settings strings, each "key:value,…", together one question. */
    const char *const *set;
    uint32_t sets;
    uint64_t capacity_bytes; /* what the process can reserve; 0: no end */
    bool sweep;              /* one question for each setting of a table */
    bool smallest;           /* also the least capacity at which each question completes */
    /* SITE is a part of a culprit's or owner's name as `report` prints it, or "event:N" for the
     * exact stack of event N.  Each entry is one more change of the same question, at most 200 of
     * them; of several that match a stack the first counts.  A FACTOR is from 0 to 1024. */
    const char *const *drop; /* "SITE" */
    uint32_t drops;
    const char *const *scale; /* "SITE=FACTOR" */
    uint32_t scales;
    const char *const
        *free_early; /* "SITE=SCOPE": the number of an event, or an annotation's name */
    uint32_t free_earlies;
    bool anyway;      /* answer also where the model does not reproduce the recording */
    bool keep_run;    /* keep the changed run, for VRS_SNAPSHOT */
    uint32_t threads; /* for questions side by side; 0: one for each processor */
};
/* VRS_USAGE for words that make no sense, for a site or scope that the recording does not have, and
 * with keep_run where a device cannot be replayed. */
VRS_API enum vrs_status vrs_replay(const struct vrs_recording *recording,
                                   const struct vrs_replay_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE where vrs_replay would refuse these words of whatever recording. */
VRS_API enum vrs_status vrs_replay_check(const struct vrs_replay_options *options,
                                         struct vrs_error *err);

/* Where text goes: `write` returns false when it could not take all of it. */
struct vrs_sink {
    bool (*write)(void *arg, const char *bytes, size_t len);
    void *arg;
};

enum vrs_format {
    VRS_TEXT,
    VRS_JSON,
    VRS_SNAPSHOT /* of vrs_replay with keep_run: a pickle as PyTorch writes it */
};

struct vrs_write_options {
    size_t size;
    enum vrs_format format;
    uint32_t width; /* columns of the terminal; 0: 80 */
    bool colour;    /* ANSI colours in VRS_TEXT */
    bool ascii;     /* no character outside ASCII in pictures */
    bool picture;   /* the timeline as an area; else one line */
    uint32_t rows; /* rows of a table; 0: as many as suit the answer in VRS_TEXT, all in VRS_JSON */
    bool stacks;   /* full stacks under the rows of VRS_TEXT */
};
/* Writes a result in pieces; a sink that refuses one is asked no more, and the call fails with
 * VRS_IO. */
VRS_API enum vrs_status vrs_write(const struct vrs_result *result,
                                  const struct vrs_write_options *options,
                                  const struct vrs_sink *sink, struct vrs_error *err);
VRS_API void vrs_result_free(struct vrs_result *result);

/* The rest. */

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
 * the totals.  Takes ownership of nothing; `results` may be freed afterwards. */
VRS_API enum vrs_status vrs_merge(const struct vrs_result *const *results, uint32_t count,
                                  struct vrs_result **ret, struct vrs_error *err);

/* Columns.  A name is "table.column", as "events.size"; docs/formats.md lists them. */
enum vrs_type { VRS_U8, VRS_U16, VRS_U32, VRS_U64, VRS_I64, VRS_F64 };

struct vrs_span {
    const void *data; /* `count` values of `type`; lives as long as the file */
    uint64_t count;
    enum vrs_type type;
};
VRS_API enum vrs_status vrs_column(const struct vrs_recording *recording, const char *name,
                                   struct vrs_span *ret, struct vrs_error *err);

/* All columns by number: NULL when there is no i-th. */
VRS_API const char *vrs_column_table(uint32_t i);
VRS_API const char *vrs_column_name(uint32_t i);

/* A string of the recording by id (a row of "strings"), not ended by a NUL; lives as long as the
 * file.  NULL when there is none. */
VRS_API const char *vrs_string(const struct vrs_recording *recording, uint32_t id, size_t *ret_len);

/* Runs job(arg, 0) … job(arg, count - 1) on `threads` threads (0: one for each processor), this
 * one among them.  After each job `finished` (NULL: nothing) hears how many are; no two calls of
 * it overlap. */
VRS_API enum vrs_status vrs_parallel(uint32_t threads, uint32_t count,
                                     void (*job)(void *arg, uint32_t i),
                                     void (*finished)(void *arg, uint32_t jobs), void *arg,
                                     struct vrs_error *err);

/* "MAJOR.MINOR.PATCH" of the library. */
VRS_API const char *vrs_version(void);

#ifdef __cplusplus
}
#endif
#endif
