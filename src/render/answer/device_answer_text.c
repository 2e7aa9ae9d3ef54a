/* device_answer_text.c - the heading of each device, its reasons, its result, its trust. */
#include "render/answer/device_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/answer/envelope.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"

static void put_reasons(struct buf *to, const struct style *style, const struct device_answer *d)
{
    for (uint32_t i = 0; i < d->reasons; i++) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        escape_text(&words, d->reason[i].text, style->ascii);
        envelope_words(to, style, i == 0 ? "note" : "", &words);
        buf_end(&words, to);
    }
}

static void put_device(struct out *out, const struct device_answer *d,
                       const struct devices_answer *answer, const struct render_options *options,
                       const struct device_text *write)
{
    struct buf *to = &out->text;
    buf_char(to, '\n');
    envelope_heading_text(to, &options->style, d->name, answer->devices);
    put_reasons(to, &options->style, d);
    if (d->result != NULL)
        write->result(out, d, answer, options);
    buf_char(to, '\n');
    envelope_trust_text(to, &options->style, &d->trust);
    if (d->result != NULL && write->next != NULL)
        write->next(out, d, answer, options);
    out_flush(out, OUT_ENOUGH);
}

static void put_pages(struct out *out, const struct answer_set *set,
                      const struct render_options *options, const struct device_pages *pages,
                      const struct device_text *write)
{
    bool first = !pages->summarised;
    for (uint32_t i = 0, place = 0; i < set->count; place += set->study[i].devices, i++) {
        const struct devices_answer *answer = &set->study[i];
        if (!device_pages_show_file(pages, place, answer->devices))
            continue;
        if (!first)
            buf_char(&out->text, '\n');
        first = false;
        char grade = answer->devices == 1 ? answer->device[0].trust.grade : '\0';
        envelope_file_text(&out->text, &options->style, &answer->file, answer->devices, grade);
        if (answer->devices == 0 && answer->file.origin.complete)
            envelope_nothing_text(&out->text, &options->style);
        for (uint32_t k = 0; k < answer->devices; k++)
            if (device_pages_show(pages, place + k))
                put_device(out, &answer->device[k], answer, options, write);
    }
}

void device_answers_text(struct out *out, const struct answer_set *set,
                         const struct render_options *options, const struct device_lines *lines,
                         const struct device_text *write)
{
    struct device_pages pages;
    device_pages_begin(&pages, &out->text, set, options, lines);
    put_pages(out, set, options, &pages, write);
    device_pages_free(&pages);
}

void device_answer_text(struct out *out, const struct answer_set *set,
                        const struct render_options *options, const struct device_text *write)
{
    struct device_pages all = { .shown = NULL };
    put_pages(out, set, options, &all, write);
}
