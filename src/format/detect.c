/* detect.c - file signatures (magic bytes) of what is read, and of what people open by mistake. */
#include "format/detect.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/generator_mark.h"
#include "base/str.h"
#include "format/input/unpack.h"

static bool begins(struct window *w, str magic)
{
    return window_need(w, magic.len) && memcmp(w->at, magic.ptr, magic.len) == 0;
}

/* The first byte of text behind a byte order mark and blanks; -1 when there is none. */
static int first_of_text(struct window *w)
{
    if (begins(w, S("\xef\xbb\xbf")))
        w->at += 3;
    for (; window_need(w, 1); w->at++)
        if (!is_blank(*w->at))
            return *w->at;
    return -1;
}

enum form detect_form(struct window *w)
{
    if (begins(w, S("\x1f\x8b")))
        return FORM_GZIP;
    if (window_need(w, 4) &&
        (zstd_is_frame(load_le32(w->at)) || zstd_is_skippable(load_le32(w->at))))
        return FORM_ZSTD;
    /* Protocols 2 and up; a MARK, an empty dict or an empty list begin those before. */
    if (window_need(w, 1) && strchr("\x80(}]", *w->at) != NULL && *w->at != 0)
        return FORM_PICKLE;
    switch (first_of_text(w)) {
    case '{':
    case '[':
        return FORM_JSON;
    case '<':
        return FORM_HTML;
    default:
        return FORM_OTHER;
    }
}

bool detect_is_view(struct window *page)
{
    enum { HEAD = 4096 };
    size_t len = window_need(page, HEAD) ? HEAD : (size_t)(page->end - page->at);
    str head = { (const char *)page->at, len };
    return str_find(head, S(GENERATOR_MARK_PAGE)) < len;
}

struct stranger {
    str magic;
    const char *what;
    bool is_other; /* a file of another kind: what was wanted is said, and how it is made */
};

static const struct stranger strangers[] = {
    { { "PK\3\4", 4 }, "a ZIP archive, as torch.save writes it", true },
    { { "PK\5\6", 4 }, "an empty ZIP archive", true },
    { { "version https://git-lfs", 23 },
      "a Git LFS pointer that stands in for the file; `git lfs pull` fetches it", false },
    { { "\xfd"
        "7zXZ",
        5 },
      "xz is not read; unpack it with `xz -d`, or pack it with zstd",
      false },
    { { "BZh", 3 }, "bzip2 is not read; unpack it with `bzip2 -d`, or pack it with zstd", false },
    { { "\x04\x22\x4d\x18", 4 },
      "lz4 is not read; unpack it with `lz4 -d`, or pack it with zstd", false },
    { { "SQLite format 3", 15 }, "a SQLite database", true },
    /* Before UTF-16, which begins alike. */
    { { "\xff\xfe\0\0", 4 }, "text in UTF-32; write the JSON or the page in UTF-8", false },
    { { "\0\0\xfe\xff", 4 }, "text in UTF-32; write the JSON or the page in UTF-8", false },
    { { "\xff\xfe", 2 }, "text in UTF-16; write the JSON or the page in UTF-8", false },
    { { "\xfe\xff", 2 }, "text in UTF-16; write the JSON or the page in UTF-8", false },
    { { "\x7f"
        "ELF",
        4 },
      "a program",
      true },
};

/* What was asked for, and how such files are made. */
static const struct {
    const char *what, *how;
} asked_for[] = {
    [WANTED_SNAPSHOT] = { "memory snapshot",
                          "torch.cuda.memory._dump_snapshot writes a memory snapshot" },
    [WANTED_TRACE] = { "profiler trace",
                       "export_chrome_trace() of torch.profiler writes a profiler trace" },
    [WANTED_MEASUREMENT] = { "measurement",
                             "json() of what vramscope.measure_training() gives is a measurement" },
};

static bool only_zeros(struct window *w)
{
    /* A crashed dump leaves pages of them; the first 4 KiB tell. */
    size_t len = window_need(w, 4096) ? 4096 : (size_t)(w->end - w->at);
    for (size_t i = 0; i < len; i++)
        if (w->at[i] != 0)
            return false;
    return true;
}

static bool looks_like_text(struct window *w)
{
    size_t len = window_need(w, 512) ? 512 : (size_t)(w->end - w->at);
    for (size_t i = 0; i < len; i++)
        if (w->at[i] < ' ' && !is_blank(w->at[i]))
            return false;
    return true;
}

static enum vrs_status refuse_stranger(const struct stranger *stranger, enum wanted wanted,
                                       struct vrs_error *err)
{
    if (!stranger->is_other)
        return vrs_fail(err, VRS_UNSUPPORTED, "%s", stranger->what);
    return vrs_fail(err, VRS_UNSUPPORTED, "%s, not a %s; %s", stranger->what,
                    asked_for[wanted].what, asked_for[wanted].how);
}

/* What a crashed dump leaves is a recording that failed, not a file of another kind: of a folder
 * the second is passed over, the first never. */
enum vrs_status detect_refuse(struct window *w, enum wanted wanted, struct vrs_error *err)
{
    const char *how = asked_for[wanted].how;
    bool any = window_need(w, 1);
    TRY(window_status(w, err));
    if (!any && window_offset(w) == 0)
        return vrs_fail(err, VRS_CORRUPT,
                        "empty: the program that wrote it died or could not write; record it "
                        "again");
    if (!any)
        return vrs_fail(err, VRS_UNSUPPORTED, "nothing but white space; %s", how);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (begins(w, strangers[i].magic))
            return refuse_stranger(&strangers[i], wanted, err);
    if (window_need(w, 4) && zstd_is_legacy(load_le32(w->at)))
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "zstd in a format from before 0.8; unpack it with a zstd that still reads "
                        "it");
    /* Too little to tell the forms apart, as what is left of a cut file. */
    if (!window_need(w, 5))
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(w) + (uint64_t)(w->end - w->at),
                           "too short to be recognised: the program that wrote it died or could "
                           "not write; record it again");
    if (only_zeros(w))
        return vrs_fail(err, VRS_CORRUPT,
                        "zero bytes, as a crashed dump leaves them; record it again");
    if (looks_like_text(w))
        return vrs_fail(err, VRS_UNSUPPORTED, "text that is neither JSON nor HTML; %s", how);
    return vrs_fail(err, VRS_UNSUPPORTED,
                    "neither a pickle nor JSON nor HTML, and not packed with gzip or zstd; %s", how);
}
