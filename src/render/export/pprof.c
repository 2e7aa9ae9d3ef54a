/* pprof.c - each message is built field by field, then written as a member of the profile. */
#include "render/export/pprof.h"

#include "render/write/protobuf.h"

enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4, FUNCTION_LINE = 5 };

void pprof_init(struct pprof *p, struct out *out)
{
    *p = (struct pprof){ .out = out };
    buf_init(&p->message, SIZE_MAX / 2);
    buf_init(&p->inner, SIZE_MAX / 2);
}

void pprof_free(struct pprof *p)
{
    buf_free(&p->message);
    buf_free(&p->inner);
}

bool pprof_failed(const struct pprof *p)
{
    return p->message.failed || p->inner.failed;
}

void pprof_flush(struct pprof *p, uint32_t field)
{
    proto_message(&p->out->text, field, &p->message);
    out_flush(p->out, OUT_ENOUGH);
}

uint32_t pprof_string(struct pprof *p, str text)
{
    proto_str(&p->out->text, PROFILE_STRING, text);
    out_flush(p->out, OUT_ENOUGH);
    return p->words++;
}

void pprof_type(struct pprof *p, uint32_t type, uint32_t unit)
{
    proto_u64(&p->message, VALUE_TYPE, type);
    proto_u64(&p->message, VALUE_UNIT, unit);
    pprof_flush(p, PROFILE_SAMPLE_TYPE);
}

void pprof_label(struct pprof *p, uint32_t key, uint32_t word)
{
    proto_u64(&p->inner, LABEL_KEY, key);
    proto_u64(&p->inner, LABEL_STR, word);
    proto_message(&p->message, SAMPLE_LABEL, &p->inner);
}

void pprof_place(struct pprof *p, const struct pprof_place *place)
{
    proto_u64(&p->message, FUNCTION_ID, place->id);
    proto_u64(&p->message, FUNCTION_NAME, place->name);
    if (place->has_file)
        proto_u64(&p->message, FUNCTION_FILE, place->file);
    if (place->has_line && place->begins_there)
        proto_u64(&p->message, FUNCTION_LINE, place->line);
    pprof_flush(p, PROFILE_FUNCTION);
    proto_u64(&p->inner, LINE_FUNCTION, place->id);
    if (place->has_line)
        proto_u64(&p->inner, LINE_LINE, place->line);
    proto_u64(&p->message, LOCATION_ID, place->id);
    proto_message(&p->message, LOCATION_LINE, &p->inner);
    pprof_flush(p, PROFILE_LOCATION);
}

struct pprof_comments pprof_comment_words(struct pprof *p, const char *tool, str cut)
{
    struct pprof_comments words = { 0 };
    buf_text(&p->message, "vramscope ");
    buf_text(&p->message, tool);
    words.tool = pprof_string(p, buf_slice(&p->message));
    p->message.len = 0;
    words.cut = cut.len > 0 ? pprof_string(p, cut) : 0;
    return words;
}

void pprof_comments(struct pprof *p, struct pprof_comments comments)
{
    proto_u64(&p->out->text, PROFILE_COMMENT, comments.tool);
    if (comments.cut != 0)
        proto_u64(&p->out->text, PROFILE_COMMENT, comments.cut);
}
