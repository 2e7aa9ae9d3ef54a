/* snapshot.h - what can be asked of a recording of GPU memory, and what can be made of one.
 *
 * Each question is a call of its own with options of its own, and gives a struct vrs_result; a call
 * NAME_check says beforehand whether its words make sense of whatever recording.  Lifetimes,
 * threads and errors are those of vramscope.h. */
#ifndef VRAMSCOPE_SNAPSHOT_H
#define VRAMSCOPE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One device by its number; zero stands for all of them. */
struct vrs_device {
    int64_t plus_one;
};

static inline struct vrs_device vrs_device_of(uint32_t number)
{
    struct vrs_device device = { (int64_t)number + 1 };
    return device;
}

/* What questions about a recording have in common. */
struct vrs_about {
    const char *path;         /* shown as the file's name; NULL: the path it was opened with */
    const char *user_root;    /* frames under this folder are the user's own */
    const char *library;      /* frames whose path matches this glob are not */
    struct vrs_device device; /* zero: all */
};

/* What a recording is, how far it can be trusted, its curves, peak and culprits. */
struct vrs_report_options {
    size_t size;
    struct vrs_about about;
    bool timeline;        /* also how the memory moved; only VRS_JSON shows it */
    bool quick;           /* only the file, the curves and who held the peak */
    bool trust;           /* every check with its outcome, and what the file is; in VRS_TEXT a page
                             of its own */
    bool part;            /* of a set to be made by vrs_merge: keeps what the set compares, and
                             nothing that only the page of one file shows */
    int64_t rank;         /* in its job, plus 1, which no other file has; 0: as its name has it */
    bool one_clock;       /* recorded on the same host as the other parts of the set, so that
                             times are the same */
    uint64_t peer_oom_us; /* when another of those parts last ran out of memory, plus 1: what
                             comes later is not compared; 0: none did */
    bool curve;           /* of a part: also a small curve, which vrs_index draws */
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

/* What a set has of the job whose folder `vramscope run` wrote, by its run.json: joined with the
 * reports of the files there it names the ranks that none of them is of, and does so again where
 * the set is joined with more of the same job.  Of several jobs, and of several starts of one, none
 * are named, and the set says so.  Where that file does not know how many there are it adds
 * nothing; where it is broken the call says why. */
VRS_API enum vrs_status vrs_report_run(const char *path, struct vrs_result **ret,
                                       struct vrs_error *err);

/* Who held the memory at one moment. */
struct vrs_peak_options {
    size_t size;
    struct vrs_about about;
    const char *at;  /* "N", "start", "end", "peak" (default), "oom", "oom:k", "12.5s", "step:k",
                        "phase:NAME" */
    const char *by;  /* "culprit" (default) or "line", which is the same, "owner", "site", "file",
                        "function", "module", "category", "size", "pool", "stream", "age", "name",
                        "path" */
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
    struct vrs_about about;
    const char *message;     /* the text of the error, of any version of PyTorch; NULL: not known */
    uint64_t capacity_bytes; /* of the card; 0: not known */
};
VRS_API enum vrs_status vrs_oom(const struct vrs_recording *recording,
                                const struct vrs_oom_options *options, struct vrs_result **ret,
                                struct vrs_error *err);

/* What grows from step to step. */
struct vrs_leaks_options {
    size_t size;
    struct vrs_about about;
    uint64_t capacity_bytes; /* what the program can have; 0: not known */
};
VRS_API enum vrs_status vrs_leaks(const struct vrs_recording *recording,
                                  const struct vrs_leaks_options *options, struct vrs_result **ret,
                                  struct vrs_error *err);

/* Reserved memory that cannot be used or returned, and the blocks that pin it. */
struct vrs_fragments_options {
    size_t size;
    struct vrs_about about;
    const char *at;   /* as in vrs_peak, and "reserved-peak"; default "end" */
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
    struct vrs_about about;
};
VRS_API enum vrs_status vrs_steps(const struct vrs_recording *recording,
                                  const struct vrs_steps_options *options, struct vrs_result **ret,
                                  struct vrs_error *err);

/* Parameters, gradients, optimizer state, activations and the rest at one moment; and the need of
 * training as a sum of terms. */
struct vrs_categories_options {
    size_t size;
    struct vrs_about about;
    const char *at; /* as of vrs_peak */
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
    struct vrs_about about;
    bool waste;              /* also lifetimes, byte-time and churn */
    bool explain_silent;     /* in VRS_TEXT also why other rules stay silent */
    uint64_t capacity_bytes; /* of the card; 0: not known */
};
VRS_API enum vrs_status vrs_advise(const struct vrs_recording *recording,
                                   const struct vrs_advise_options *options,
                                   struct vrs_result **ret, struct vrs_error *err);

/* What changed from recording `a` to recording `b`, or from one moment of a recording to another:
 * then `a` and `b` are the same one. */
struct vrs_diff_options {
    size_t size;
    struct vrs_about about;     /* path and device are A's; a device of zero: each of A beside the
                                   one of its number in B */
    const char *b_path;         /* as the path of A */
    struct vrs_device b_device; /* zero: the same as A's */
    const char *at;             /* a moment as above: of both; */
    const char *to;             /* of B, where it is another one */
    const char *weight;         /* "live" (default), "alloc_bytes", "allocs", "byte_events" */
    const char *key;            /* where matching of sites begins: "K0" (default), "K1", "K2" */
    const char *per;            /* NULL, "step", "parameter_byte": what figures are divided by */
    /* vrs_verdict is VRS_NO where B's total is above A's by more than this; plus 1, 0: no limit. */
    uint64_t fail_over_bytes;
    uint64_t fail_over_millionths; /* of A's total figure */
    uint32_t threads;              /* for both at once; 0: one for each processor */
    /* What a row is: "stack" (default), a matched pair of them; or what shares a "line"
     * (or "culprit"), an "owner" or a "category". */
    const char *by;
};
VRS_API enum vrs_status vrs_diff(const struct vrs_recording *a, const struct vrs_recording *b,
                                 const struct vrs_diff_options *options, struct vrs_result **ret,
                                 struct vrs_error *err);

/* VRS_USAGE where vrs_diff would refuse these words of whatever recordings. */
VRS_API enum vrs_status vrs_diff_check(const struct vrs_diff_options *options,
                                       struct vrs_error *err);

/* Does a recording keep a budget? */
struct vrs_check_options {
    size_t size;
    struct vrs_about about;        /* folders of absolute paths are not shown */
    const struct vrs_limit *limit; /* a later one replaces an earlier of the same name */
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
    struct vrs_about about;
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

/* A recording for other tools.  It is written straight from the recording, row by row, since it may
 * be far larger than any answer; so it is a call of its own and not a format of vrs_write. */
struct vrs_export_options {
    size_t size;
    struct vrs_about about;
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

/* VRS_USAGE where vrs_export would refuse these words of whatever recording; VRS_UNSUPPORTED for a
 * format that this build is without.  `database` is not looked at. */
VRS_API enum vrs_status vrs_export_check(const struct vrs_export_options *options,
                                         struct vrs_error *err);

/* VRS_UNSUPPORTED where vrs_export could not write a format on this machine, and why: sqlite needs
 * a library, which is loaded for it alone.  Else as vrs_export_check. */
VRS_API enum vrs_status vrs_export_ready(const char *to, struct vrs_error *err);

/* Whether a format is for programs alone: not to be shown in a terminal. */
VRS_API bool vrs_export_is_binary(const char *to);

/* A file beside the recordings of a page that could not be read, or not all of it. */
struct vrs_unread_file {
    const char *path, *why; /* `why` is one line */
};

/* Recordings as one HTML page that needs nothing else: docs/view-format.md. */
struct vrs_view_options {
    size_t size;
    const char *const *paths; /* shown as the files' names, one each; NULL: as they were opened */
    const char *user_root, *library;
    struct vrs_device device; /* zero: all */
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
    /* Asked for the text of a line of a file, as the recording names it: writes at most `room`
     * bytes into `to` and returns how many, 0 where there is none; the call fails with VRS_USAGE
     * where it returns more.  What is answered takes at most 64 KiB of the page, with its
     * names and as JSON is written; the lines that hold most at the peak have it.  NULL: none. */
    size_t (*line_text)(const void *arg, const char *file, uint32_t line, char *to, size_t room);
    const void *line_text_arg;
    const struct vrs_unread_file *unread; /* which the page names, with why */
    uint32_t unreads;
};
VRS_API enum vrs_status vrs_view(const struct vrs_recording *const *recordings, uint32_t count,
                                 const struct vrs_view_options *options,
                                 const struct vrs_sink *sink, struct vrs_error *err);

/* The page of a file that could not be read: its path, why not, and a link to all files.  `why` is
 * what the call about it failed with, vrs_open, vrs_recording or vrs_view.  `index` is the address
 * of the link, relative to that of the page; NULL: there is none.  `path` and `why` are not NULL;
 * whatever bytes they hold, the page shows them as text.  VRS_IO where the sink refuses, or
 * VRS_NOMEM. */
VRS_API enum vrs_status vrs_view_unread(const char *path, const struct vrs_error *why,
                                        const char *index, const struct vrs_sink *sink,
                                        struct vrs_error *err);

/* A file of a set, for vrs_index. */
struct vrs_index_file {
    const char *path;    /* as its reports have it */
    const char *href;    /* where its page is, relative to the index; NULL: it has none */
    const char *failure; /* one line; NULL: all of it was read */
};

/* Reports of several files that vrs_merge joined as one HTML page without a script: a row for each
 * rank or device, with a link to the page of its file; the ranks that are missing; what failed. */
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
    struct vrs_about about;
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

#ifdef __cplusplus
}
#endif
#endif
