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
     * Returning false cancels the call, which then fails with VRS_IO. */
    bool (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    enum vrs_replay_when replay;
    /* That reading and one question about a recording may use, this one among them; 0: one for each
     * processor.  Jobs of vrs_parallel set 1, or each of them starts more. */
    uint32_t threads;
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
    bool timeline;         /* also how the memory moved; only VRS_JSON shows it */
    bool quick;            /* only the file, the curves and who held the peak */
    bool trust;            /* every check with its outcome, and what the file is; in VRS_TEXT a page
                              of its own */
    bool part;             /* of a set to be made by vrs_merge: keeps what the set compares, and
                              nothing that only the page of one file shows */
    int64_t rank;          /* in its job, plus 1, which no other file has; 0: as its name has it */
    bool one_clock;        /* recorded on the same host as the other parts of the set, so that
                              times are the same */
    uint64_t peer_oom_us;  /* when another of those parts last ran out of memory, plus 1: what
                              comes later is not compared; 0: none did */
    bool curve;            /* of a part: also a small curve, which vrs_index draws */
};
VRS_API enum vrs_status vrs_report(const struct vrs_recording *recording,
                                   const struct vrs_report_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

/* Of a report: when memory ran out for the last time, and the time of the last event; UINT64_MAX:
 * never, or not known.  With them the parts of a set know what `peer_oom_us` of others is. */
VRS_API void vrs_report_times(const struct vrs_result *result, uint64_t *ret_oom_us,
                              uint64_t *ret_last_us);

/* What a set has of a file that could not be read: `why` not.  Joined with the reports of others it
 * is named beside them, so that no total seems to be of all files. */
VRS_API enum vrs_status vrs_report_unread(const char *path, const struct vrs_error *why,
                                          struct vrs_result **ret, struct vrs_error *err);

/* Who held the memory at one moment. */
struct vrs_peak_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *at;  /* "N", "start", "end", "peak" (default), "oom", "oom:k", "12.5s", "step:k",
                        "phase:NAME" */
    const char *by;  /* "culprit" (default), "owner", "site", "file", "function", "module",
                        "category", "size", "pool", "stream", "age" */
    const char *key; /* of sites: "K0" to "K3"; default "K1" */
    bool categories; /* tell the category of each row too; by "category" does so anyway */
};
VRS_API enum vrs_status vrs_peak(const struct vrs_recording *recording,
                                 const struct vrs_peak_options *options, struct vrs_result **ret,
                                 struct vrs_error *err);

/* VRS_USAGE where vrs_peak would refuse these words of whatever recording; a moment that only some
 * recordings have is accepted. */
VRS_API enum vrs_status vrs_peak_check(const struct vrs_peak_options *options,
                                       struct vrs_error *err);

/* Why a request for memory failed, and what would have had to go. */
struct vrs_oom_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *message;     /* the text of the error, of any version of PyTorch; NULL: not known */
    uint64_t capacity_bytes; /* of the card; 0: not known */
};
VRS_API enum vrs_status vrs_oom(const struct vrs_recording *recording,
                                const struct vrs_oom_options *options, struct vrs_result **ret,
                                struct vrs_error *err);

/* What grows from step to step. */
struct vrs_leaks_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    uint64_t capacity_bytes;                /* what the program can have; 0: not known */
};
VRS_API enum vrs_status vrs_leaks(const struct vrs_recording *recording,
                                  const struct vrs_leaks_options *options, struct vrs_result **ret,
                                  struct vrs_error *err);

/* Reserved memory that cannot be used or returned, and the blocks that pin it. */
struct vrs_fragments_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *at;                         /* as in vrs_peak, and "reserved-peak"; default "end" */
    bool all_metrics; /* also 1 - largest/free, which is near 1 where nothing is wrong */
};
VRS_API enum vrs_status vrs_fragments(const struct vrs_recording *recording,
                                      const struct vrs_fragments_options *options,
                                      struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE where vrs_fragments would refuse these words of whatever recording. */
VRS_API enum vrs_status vrs_fragments_check(const struct vrs_fragments_options *options,
                                            struct vrs_error *err);

/* Where steps begin, what phases they have, and the peak of each. */
struct vrs_steps_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
};
VRS_API enum vrs_status vrs_steps(const struct vrs_recording *recording,
                                  const struct vrs_steps_options *options, struct vrs_result **ret,
                                  struct vrs_error *err);

/* Parameters, gradients, optimizer state, activations and the rest at one moment; and the need of
 * training as a sum of terms. */
struct vrs_categories_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *at;                         /* as of vrs_peak */
    /* Rules asked before the built-in ones, as the text of a rule file, and what messages call it.
     * The language is that of vrs_category_rules. */
    const char *rules, *rules_name;
};
VRS_API enum vrs_status vrs_categories(const struct vrs_recording *recording,
                                       const struct vrs_categories_options *options,
                                       struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE where vrs_categories would refuse these words and rules of whatever recording. */
VRS_API enum vrs_status vrs_categories_check(const struct vrs_categories_options *options,
                                             struct vrs_error *err);

/* The built-in rules, as a rule file. */
VRS_API const char *vrs_category_rules(void);

/* What to change, with the bytes it frees. */
struct vrs_advise_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    bool waste;                             /* also lifetimes, byte-time and churn */
    bool explain_silent;                    /* in VRS_TEXT also why other rules stay silent */
    uint64_t capacity_bytes;                /* of the card; 0: not known */
};
VRS_API enum vrs_status vrs_advise(const struct vrs_recording *recording,
                                   const struct vrs_advise_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

/* What changed from recording `a` to recording `b`, or from one moment of a recording to another:
 * then `a` and `b` are the same one. */
struct vrs_diff_options {
    size_t size;
    const char *path, *b_path;       /* of A and of B; as above */
    const char *user_root, *library; /* as above */
    int64_t device, b_device;        /* of A and of B: a number plus 1.  0: all, each beside the
                                        one of its number; for B the same as A's */
    const char *at;                  /* a moment as above: of both; */
    const char *to;                  /* of B, where it is another one */
    const char *weight;              /* "live" (default), "alloc_bytes", "allocs", "byte_events" */
    const char *key; /* where matching of sites begins: "K0" (default), "K1", "K2" */
    const char *per; /* NULL, "step", "parameter_byte": what figures are divided by */
    /* vrs_verdict is VRS_NO where B's total is above A's by more than this; plus 1, 0: no limit. */
    uint64_t fail_over_bytes;
    uint64_t fail_over_millionths; /* of A's total figure */
    uint32_t threads;              /* for both at once; 0: one for each processor */
};
VRS_API enum vrs_status vrs_diff(const struct vrs_recording *a, const struct vrs_recording *b,
                                 const struct vrs_diff_options *options, struct vrs_result **ret,
                                 struct vrs_error *err);

/* VRS_USAGE where vrs_diff would refuse these words of whatever recordings. */
VRS_API enum vrs_status vrs_diff_check(const struct vrs_diff_options *options,
                                       struct vrs_error *err);

/* Does a recording keep a budget? */
struct vrs_limit {
    const char *name;  /* an option of `vramscope check` without its dashes: "max-peak", "no-oom" */
    const char *value; /* "24GiB", "activation=8GiB", "105%"; NULL where the limit has none */
};
struct vrs_check_options {
    size_t size;
    const char *path, *user_root, *library; /* as above; folders of absolute paths are not shown */
    int64_t device;                         /* as above */
    const struct vrs_limit *limit;          /* a later one replaces an earlier of the same name */
    uint32_t limits;
    const char *budget;      /* more limits, before those: lines of "name = value"; or NULL */
    const char *budget_name; /* of that text, for messages; NULL: "budget" */
    const char *rules, *rules_name;       /* of categories, as in vrs_categories_options */
    const struct vrs_recording *baseline; /* what limits with a share, and of growth, refer to */
    bool strict;                          /* undecided is not good enough */
    bool allow_estimates;                 /* an estimate may fail, too */
};
/* VRS_USAGE for words that make no sense. */
VRS_API enum vrs_status vrs_check(const struct vrs_recording *recording,
                                  const struct vrs_check_options *options, struct vrs_result **ret,
                                  struct vrs_error *err);

/* What vrs_check would answer about a file, had it been read: `why` not.  Joined with the answers
 * about others it stands among them as not read, so that no document calls well what nobody saw. */
VRS_API enum vrs_status vrs_check_unread(const char *path, const struct vrs_error *why,
                                         struct vrs_result **ret, struct vrs_error *err);

/* VRS_USAGE where vrs_check would refuse these words of whatever recording; `has_baseline` stands
 * for a baseline that is not open yet. */
VRS_API enum vrs_status vrs_check_check(const struct vrs_check_options *options, bool has_baseline,
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
    VRS_SARIF     /* of vrs_check: 2.1.0, for code scanning */
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

/* A recording for other tools.  It is written straight from the recording, row by row, since it may
 * be far larger than any answer; so it is a call of its own and not a format of vrs_write. */
struct vrs_export_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    const char *to; /* "csv", "json", "folded", "speedscope", "pprof", "sqlite", "perfetto" */
    /* Of csv one and of json any of: "devices", "allocations" (default), "events", "curves",
     * "segments", "blocks", "sites", "stacks", "frames", "marks", "settings"; or "all" of them. */
    const char *const *table;
    uint32_t tables;
    const char *at;     /* of folded, speedscope and pprof: as in vrs_peak_options */
    const char *weight; /* of folded: "bytes" (default), "count" */
    bool inverse;       /* of folded: the innermost frame first */
    /* Of what has categories (allocations, sqlite, pprof, perfetto): as in vrs_categories_options.
     */
    const char *rules, *rules_name;
    /* Of sqlite, which writes to no sink: a file that is new or empty.  After a failure it is of
     * no use. */
    const char *database;
    /* Told in one line that the recording is cut, where the format has no place to say so (csv,
     * folded); NULL: nobody is. */
    void (*note)(void *arg, const char *text);
    void *note_arg;
};
VRS_API enum vrs_status vrs_export(const struct vrs_recording *recording,
                                   const struct vrs_export_options *options,
                                   const struct vrs_sink *sink, struct vrs_error *err);

/* Recordings as one HTML page that needs nothing else: docs/view-format.md. */
struct vrs_view_options {
    size_t size;
    const char *const *paths; /* shown as the files' names, one each; NULL: as they were opened */
    const char *user_root, *library;
    int64_t device; /* one device's number plus 1; 0: all */
    /* What frames of stacks open in: "vscode" and others of docs/view-format.md, NULL: nothing;
     * and "FROM=TO" for the beginning of their paths, or NULL. */
    const char *editor, *editor_path;
    /* Above so many bytes the page goes without columns that few need, then holds only the events
     * around the peak, with every allocation that is alive in them, then goes without more columns.
     * Where that is not enough the call fails with VRS_USAGE, which names the least.  0: it has
     * all.
     */
    uint64_t most_bytes;
    /* Told in one line what a page goes without, where it does; NULL: nobody is. */
    void (*note)(void *arg, const char *text);
    void *note_arg;
    /* Moments as in vrs_peak_options: the page holds the events between these two, both of them,
     * instead of those around the peak; one that is NULL is the start or the end. */
    const char *from, *to;
    bool may_be_larger; /* than `most_bytes`, where no page is so small; the note then says so */
};
VRS_API enum vrs_status vrs_view(const struct vrs_recording *const *recordings, uint32_t count,
                                 const struct vrs_view_options *options,
                                 const struct vrs_sink *sink, struct vrs_error *err);

/* A file of a set, for vrs_index. */
struct vrs_index_file {
    const char *path;    /* as its reports have it */
    const char *href;    /* where its page is, relative to the index; NULL: it has none */
    const char *failure; /* one line; NULL: all of it was read */
};

/* Reports of several files that vrs_merge joined as one HTML page without a script: a row for each
 * rank or device, with a link to the page of its file, and what failed. */
struct vrs_index_options {
    size_t size;
    const struct vrs_index_file *file; /* in the order of their paths (strcmp) */
    uint32_t files;                    /* at least 1 */
};
VRS_API enum vrs_status vrs_index(const struct vrs_result *reports,
                                  const struct vrs_index_options *options,
                                  const struct vrs_sink *sink, struct vrs_error *err);
/* A recording as one picture, with the devices under each other on one scale. */
enum vrs_picture_format { VRS_SVG, VRS_PNG };

struct vrs_picture_options {
    size_t size;
    const char *path, *user_root, *library; /* as above */
    int64_t device;                         /* as above */
    enum vrs_picture_format format;
    const char *view; /* "groups" (default), "stack": every allocation, "map": by address */
    const char *by;   /* "category" (default), "site", "owner", "module", "phase", "pool", "stream",
                         "size", "age" */
    const char *at;   /* the moment whose bytes the legend has, as in vrs_peak_options; default: the
                         peak of what is shown */
    const char *from, *to;   /* the first and the last event shown, likewise; NULL: all */
    uint32_t width, height;  /* pixels; 0: 1200 and what the devices need */
    bool dark;               /* light on dark */
    bool detail;             /* of an SVG of groups: every allocation, as pixels inside it */
    uint64_t capacity_bytes; /* of a card, to be drawn as a line; 0: the least that an OOM tells */
};
/* VRS_UNSUPPORTED where there is nothing to draw. */
VRS_API enum vrs_status vrs_picture(const struct vrs_recording *recording,
                                    const struct vrs_picture_options *options,
                                    const struct vrs_sink *sink, struct vrs_error *err);

/* VRS_USAGE where vrs_picture would refuse these words of whatever recording. */
VRS_API enum vrs_status vrs_picture_check(const struct vrs_picture_options *options,
                                          struct vrs_error *err);

/* VRS_USAGE where vrs_export would refuse these words of whatever recording; VRS_UNSUPPORTED for a
 * format that this build is without.  `database` is not looked at. */
VRS_API enum vrs_status vrs_export_check(const struct vrs_export_options *options,
                                         struct vrs_error *err);

/* VRS_UNSUPPORTED where vrs_export could not write a format on this machine, and why: sqlite needs
 * a library, which is loaded for it alone.  Else as vrs_export_check. */
VRS_API enum vrs_status vrs_export_ready(const char *to, struct vrs_error *err);

/* Whether a format is for programs alone: not to be shown in a terminal. */
VRS_API bool vrs_export_is_binary(const char *to);

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

/* Whether a file is a page or a picture that vrs_view, vrs_index or vrs_picture wrote, by a mark
 * near its beginning; one that cannot be read, or has no name ("-"), is none. */
VRS_API bool vrs_is_own(const char *path);

/* "MAJOR.MINOR.PATCH" of the library. */
VRS_API const char *vrs_version(void);

#ifdef __cplusplus
}
#endif
#endif
