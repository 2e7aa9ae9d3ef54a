/* envelope.c - the parts that all answers share. */
#include "render/answer/envelope.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/trust/trust.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/file_facts_fields.h"
#include "model/recording.h"
#include "render/answer/fields.h"
#include "render/write/escape.h"
#include "render/write/text.h"

enum { TRUST_ITEMS_SHOWN = 2, TRUST_MARGIN = 50 };

static const char *const compressions[] = {
    [COMPRESSION_NONE] = "none",
    [COMPRESSION_GZIP] = "gzip",
    [COMPRESSION_ZSTD] = "zstd",
};

void envelope_file(struct json *j, const struct file_facts *file)
{
    const struct fields_json as = { .j = j, .limit = UINT32_MAX };
    fields_object(&as, "file", &file_row_type, file, NULL);
}

void envelope_name(struct buf *to, const struct style *style, const struct file_facts *file)
{
    escape_text(to, str_equal(file->path, S("-")) ? S("standard input") : file->path, style->ascii);
    if (file->entry.ptr != NULL) {
        buf_char(to, ' ');
        escape_text(to, file->entry, style->ascii);
    }
}

static const char *cut_place(uint8_t part)
{
    switch ((enum cut_part)part) {
    case CUT_SEGMENTS:
        return " in the final state";
    case CUT_TRACES:
        return " in the traces";
    case CUT_NONE:
    case CUT_BEFORE:
    case CUT_AFTER:
        break;
    }
    return "";
}

void envelope_cut_text(struct buf *to, const struct origin *o)
{
    buf_format(to, "INCOMPLETE: cut at byte %llu%s%s", (unsigned long long)o->cut_offset,
               o->compression == COMPRESSION_NONE ? "" : " of the unpacked data",
               cut_place(o->cut_part));
}

/* How the recording was written. */
static void put_encoding(struct buf *to, const struct origin *o)
{
    if (o->encoding == ENCODING_JSON)
        buf_text(to, "JSON");
    else
        buf_format(to, "pickle protocol %d", o->pickle_protocol);
    if (o->compression != COMPRESSION_NONE)
        buf_format(to, " in %s", compressions[o->compression]);
    if (o->wrapper == WRAPPER_HTML)
        buf_text(to, " in an HTML page");
    buf_text(to, ", ");
}

/* The facts of a file, in one sentence. */
static void file_words(struct buf *to, const struct style *style, const struct file_facts *file,
                       uint32_t devices, bool encoding)
{
    const struct origin *o = &file->origin;
    paint_on(to, style, PAINT_BOLD);
    envelope_name(to, style, file);
    paint_off(to, style);
    buf_text(to, ": ");
    if (encoding)
        put_encoding(to, o);
    human_known_bytes(to, o->size_bytes);
    buf_text(to, ", ");
    human_counted(to, file->events, "event", style->ascii);
    if (devices != 1)
        buf_format(to, ", %u devices", (unsigned)devices);
    if (o->complete) {
        buf_text(to, ", complete");
        return;
    }
    buf_text(to, ", ");
    paint_on(to, style, PAINT_BAD);
    envelope_cut_text(to, o);
    paint_off(to, style);
}

void envelope_source_text(struct buf *to, const struct style *style, const struct file_facts *file,
                          uint32_t devices)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    file_words(&words, style, file, devices, true);
    text_wrap(to, style, buf_slice(&words), 0, 9);
    buf_end(&words, to);
}

void envelope_file_text(struct buf *to, const struct style *style, const struct file_facts *file,
                        uint32_t devices, char grade)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    file_words(&words, style, file, devices, false);
    if (grade != '\0')
        buf_format(&words, ", trust %c", grade);
    text_wrap(to, style, buf_slice(&words), 0, 9);
    buf_end(&words, to);
}

void envelope_nothing_text(struct buf *to, const struct style *style)
{
    text_wrap(to, style,
              S("Nothing was allocated or recorded. To record, call "
                "torch.cuda.memory._record_memory_history() before the work."),
              0, 0);
}

static const char *words_of_c(const struct trust *trust)
{
    if (trust->cut)
        return trust->differs ? "the file is cut: sums and peaks are lower bounds, and what was "
                                "read contradicts itself by less than 1 %"
                              : "the file is cut: sums and peaks are lower bounds";
    if (!trust->differs)
        return "the file is cut, but all of this device was read";
    return "some numbers are off by less than 1 %";
}

static const char *grade_words(const struct trust *trust)
{
    switch (trust->grade) {
    case 'A':
        return "every check passes and nothing is older than the recording";
    case 'B':
        return trust->guessed ? "every check passes, but values of a wrong type were left out"
                              : "every check passes";
    case 'C':
        return words_of_c(trust);
    default:
        return "this file contradicts itself";
    }
}

static void put_grade(struct buf *to, const struct style *style, const char *label,
                      const struct trust *trust, const struct buf *words)
{
    bool good = trust->grade == 'A' || trust->grade == 'B';
    buf_format(to, "%s ", label);
    paint_on(to, style, good ? PAINT_GOOD : PAINT_BAD);
    buf_char(to, trust->grade);
    paint_off(to, style);
    buf_text(to, "  ");
    text_wrap(to, style, buf_slice(words), ENVELOPE_LABEL, ENVELOPE_LABEL);
    to->failed = to->failed || words->failed;
}

void envelope_trust_text(struct buf *to, const struct style *style, const struct trust *trust)
{
    envelope_trust_labelled(to, style, "trust", trust);
}

void envelope_trust_labelled(struct buf *to, const struct style *style, const char *label,
                             const struct trust *trust)
{
    struct buf words;
    buf_init(&words, 1 << 16);
    /* How the replay went is no reservation: a good grade is still said, the best always. */
    bool only_replay = trust->items == 1 && strcmp(trust->item[0].id, "replay") == 0;
    if (trust->grade == 'A' || trust->items == 0 || only_replay)
        buf_text(&words, grade_words(trust));
    /* The worst is always said, the next where two lines hold both. */
    uint32_t shown = 0;
    for (; shown < trust->items && shown < TRUST_ITEMS_SHOWN; shown++) {
        size_t from = words.len;
        buf_text(&words, words.len == 0 ? "" : "; ");
        escape_text(&words, trust->item[shown].text, style->ascii);
        if (shown > 0 && words.len + TRUST_MARGIN > 2 * (size_t)style->width) {
            words.len = from;
            break;
        }
    }
    uint32_t left = trust->items - shown;
    if (left > 0)
        buf_format(&words, " (%u more remark%s: report --trust)", (unsigned)left,
                   left == 1 ? "" : "s");
    put_grade(to, style, label, trust, &words);
    buf_free(&words);
}

void envelope_grade_text(struct buf *to, const struct style *style, const struct trust *trust)
{
    struct buf words;
    buf_init(&words, 1 << 16);
    buf_text(&words, grade_words(trust));
    put_grade(to, style, "trust", trust, &words);
    buf_free(&words);
}

void envelope_heading_text(struct buf *to, const struct style *style, struct device_name name,
                           uint32_t devices)
{
    if (devices == 1 && name.number == 0 && !name.host)
        return;
    paint_on(to, style, PAINT_BOLD);
    envelope_device_text(to, name);
    paint_off(to, style);
    buf_char(to, '\n');
}

void envelope_device_text(struct buf *to, struct device_name name)
{
    buf_format(to, "%s %u", name.host ? "host memory" : "device", (unsigned)name.number);
}

void envelope_device_name(struct buf *to, struct device_name name)
{
    buf_format(to, "%s:%u", name.host ? "host" : "cuda", (unsigned)name.number);
}

void envelope_label(struct buf *to, const struct style *style, const char *label)
{
    paint_on(to, style, PAINT_BOLD);
    buf_text(to, label);
    paint_off(to, style);
    size_t len = str_from(label).len;
    buf_repeat(to, S(" "), len < ENVELOPE_LABEL ? ENVELOPE_LABEL - len : 1);
}

void envelope_words(struct buf *to, const struct style *style, const char *label, struct buf *words)
{
    envelope_label(to, style, label);
    text_wrap(to, style, buf_slice(words), ENVELOPE_LABEL, ENVELOPE_LABEL);
    to->failed = to->failed || words->failed;
    words->len = 0;
}
