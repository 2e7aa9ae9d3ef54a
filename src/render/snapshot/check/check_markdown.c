/* check_markdown.c - a checked budget as a table for a pull request. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/check/check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/snapshot/check/check_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/human.h"
#include "render/write/markdown.h"
#include "render/write/out.h"

/* Words of ours, which hold no text of a file. */
typedef void words_of_row(struct buf *to, const struct check_row *row);

static void put_words(struct buf *to, words_of_row *write, const struct check_row *row, bool ascii)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    write(&words, row);
    markdown_text(to, buf_slice(&words), ascii);
    buf_end(&words, to);
}

static void put_evidence(struct buf *to, const struct check_row *row, bool ascii)
{
    put_words(to, check_evidence_words, row, ascii);
    for (uint32_t i = 0; i < check_sites_shown(row); i++) {
        buf_text(to, "<br>");
        human_known_bytes(to, row->site[i].bytes);
        buf_char(to, ' ');
        markdown_code(to, row->site[i].site.culprit, ascii);
    }
    for (uint32_t i = 0; i < row->diffs; i++) {
        buf_text(to, row->diff[i].delta_bytes >= 0 ? "<br>+" : "<br>");
        human_bytes(to, row->diff[i].delta_bytes);
        buf_char(to, ' ');
        markdown_code(to, row->diff[i].name, ascii);
        buf_format(to, " %s", row->diff[i].status);
    }
}

static void put_row(struct buf *to, str place, const struct check_row *row, bool ascii)
{
    static const char *const marks[CHECK_OUTCOMES] = { "PASS", "**FAIL**", "INCONCLUSIVE" };
    buf_format(to, "| %s | ", marks[row->outcome]);
    markdown_code(to, row->name, ascii);
    buf_text(to, " | ");
    put_words(to, check_value_words, row, ascii);
    buf_text(to, " | ");
    put_words(to, check_limit_words, row, ascii);
    buf_text(to, " | ");
    markdown_text(to, place, ascii);
    buf_text(to, " | ");
    put_evidence(to, row, ascii);
    buf_text(to, " |\n");
}

static void put_device(struct buf *to, const struct devices_answer *answer,
                       const struct device_answer *device, bool ascii)
{
    const struct check *check = device->result;
    struct buf place;
    buf_init(&place, SIZE_MAX / 2);
    check_place_words(&place, answer, device, ascii);
    for (uint32_t i = 0; check != NULL && i < check->rows; i++)
        put_row(to, buf_slice(&place), &check->row[i], ascii);
    buf_end(&place, to);
}

void check_markdown(struct out *out, const struct answer_set *set, bool several,
                    const struct render_options *options)
{
    struct buf *to = &out->text;
    bool ascii = options->style.ascii;
    struct check_tally tally = check_tally_of(set);
    (void)several;
    buf_text(to, "### vramscope check: ");
    check_tally_words(to, &tally);
    buf_text(to, "\n\n|  | limit | value | allowed | recording | evidence |\n"
                 "|---|---|---:|---:|---|---|\n");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct devices_answer *answer = &set->study[i];
        for (uint32_t k = 0; k < answer->devices; k++)
            put_device(to, answer, &answer->device[k], ascii);
        if (answer->devices == 0) {
            buf_text(to, answer->unread.ptr != NULL ? "| **NOT READ**" : "| INCONCLUSIVE");
            buf_text(to, " |  | - | - | ");
            markdown_text(to, answer->file.path, ascii);
            buf_text(to, " | ");
            markdown_text(to, check_empty_words(answer), ascii);
            buf_text(to, " |\n");
        }
        out_flush(out, OUT_ENOUGH);
    }
}
