/* section_json.c - findings of the analyses in a report's JSON. */
#include "render/snapshot/advise/advise.h"
#include "render/snapshot/report/findings.h"
#include "render/snapshot/report/report_sections.h"

static void put_leak(struct json *j, const struct leak_site *site, struct device_name name,
                     struct buf *text)
{
    text->len = 0;
    human_bytes(text, site->slope_bytes);
    buf_text(text, " more in each step at ");
    buf_str(text, site->site.culprit);
    finding_open(j, site->class == LEAK_CLASS_LEAK ? "leak" : "suspect",
                 site->class == LEAK_CLASS_LEAK ? "problem" : "note", &name, text);
    json_str(j, "culprit", site->site.culprit);
    json_i64(j, "slope_bytes", site->slope_bytes);
    json_u64(j, "generations", site->generations);
    json_text(j, "kind", leak_kind_names[site->kind]);
    finding_close(j, site->peak_bytes > 0 ? site->peak_bytes : UNKNOWN_U64);
}

static void put_stranded(struct json *j, const struct fragments *f, struct device_name name,
                         struct buf *text)
{
    text->len = 0;
    human_known_bytes(text, f->total.stranded_bytes);
    buf_text(text, " of reserved memory is free and can be neither used nor returned");
    finding_open(j, "stranded", "note", &name, text);
    json_i64(j, "event", f->at_event);
    json_u64(j, "stranded_bytes", f->total.stranded_bytes);
    json_u64(j, "reserved_bytes", f->total.reserved_bytes);
    finding_close(j, UNKNOWN_U64);
}

static void put_advice(struct json *j, const struct advice *a, struct device_name name,
                       struct buf *text)
{
    text->len = 0;
    advice_words(text, a);
    finding_open(j, a->id, severity_names[a->severity], &name, text);
    json_str(j, "culprit", a->has_site ? a->site.culprit : (str){ NULL, 0 });
    json_line_array(j, "at_events");
    for (uint32_t i = 0; i < a->at_events; i++)
        json_i64(j, NULL, a->at_event[i]);
    json_close(j);
    json_u64(j, "bytes", a->bytes);
    json_text(j, "confidence", confidence_names[a->confidence]);
    finding_close(j, a->saving_bytes);
}

void section_findings_json(struct json *j, const struct report_sections *sections,
                           struct device_name name)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    const struct leaks *g = sections->leaks;
    for (uint32_t i = 0; g != NULL && i < g->sites; i++)
        if (g->site[i].class == LEAK_CLASS_LEAK || g->site[i].class == LEAK_CLASS_SUSPECT)
            put_leak(j, &g->site[i], name, &text);
    for (uint32_t i = 0; sections->has_advice && i < sections->advise.advices; i++)
        put_advice(j, &sections->advise.advice[i], name, &text);
    if (section_is_stranded(sections))
        put_stranded(j, sections->fragments, name, &text);
    buf_end(&text, j->out);
}

void section_made_of_json(struct json *j, const struct report_sections *sections)
{
    const struct category_table *t = sections->categories;
    json_array(j, "made_of");
    for (uint32_t i = 0; i < t->rows; i++) {
        json_line_object(j, NULL);
        json_text(j, "category", category_names[t->row[i].category]);
        json_u64(j, "bytes", t->row[i].bytes);
        json_u64(j, "count", t->row[i].count);
        json_close(j);
    }
    json_close(j);
}
