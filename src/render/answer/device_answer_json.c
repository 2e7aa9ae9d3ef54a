/* device_answer_json.c - the JSON of answers of the common form. */
#include "render/answer/device_answer.h"

void json_site(struct json *j, const char *key, const struct site_ref *site,
               struct stack_numbers *numbers)
{
    json_line_object(j, key);
    json_str(j, "culprit", site->culprit);
    json_str(j, "owner", site->owner);
    json_stack(j, "stack", site->stack, numbers);
    json_close(j);
}

/* What a verb asks for. */
struct asked {
    const struct render_options *options;
    device_answer_json_result *write;
};

static void put_device(struct json *j, struct out *out, const struct device_answer *d,
                       struct stack_numbers *numbers, const struct asked *asked)
{
    json_object(j, NULL);
    envelope_device(j, d->name);
    envelope_status(j, d->status, d->reason, d->reasons);
    envelope_trust(j, &d->trust);
    if (d->result == NULL) {
        json_null(j, "result");
    } else {
        json_object(j, "result");
        asked->write(j, out, d->result, numbers, asked->options);
        json_close(j);
    }
    json_close(j);
}

static void put_members(struct json *j, struct out *out, const struct answer_set *set, uint32_t i,
                        const void *arg)
{
    const struct devices_answer *answer = &set->study[i];
    struct stack_numbers numbers;
    if (answer->unread.ptr != NULL) {
        json_str(j, "path", answer->file.path);
        json_str(j, "error", answer->unread);
        return;
    }
    if (!stack_numbers_init(&numbers, &answer->stacks, j->out))
        return;
    envelope_file(j, &answer->file);
    json_array(j, "devices");
    for (uint32_t k = 0; k < answer->devices; k++)
        put_device(j, out, &answer->device[k], &numbers, arg);
    json_close(j);
    json_stacks(j, out, &numbers);
    stack_numbers_free(&numbers);
}

void device_answer_json(struct out *out, const struct answer_set *set, bool several,
                        const struct render_options *options, const char *verb,
                        device_answer_json_result *write)
{
    struct json j;
    const struct asked asked = { options, write };
    document_begin(&j, out, verb, several, options);
    document_files(&j, out, set, several, put_members, &asked);
    document_end(&j);
}
