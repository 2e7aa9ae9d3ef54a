/* cmd_fragments.c - vramscope fragments. */
#include "answer.h"
#include "help.h"
#include "message.h"

struct fragments_settings {
    struct common common;
    const char *at;
    bool all_metrics;
};

#define IN(member) offsetof(struct fragments_settings, member)

static const struct option_spec options[] = {
    { 0, "at", "MOMENT",
      "an event's number, start, end (default), peak, reserved-peak, oom or oom:K (the K-th), "
      "step:K or phase:NAME (its peak), or seconds after the first event as 12.5s",
      OPTION_TEXT, IN(at), "start end peak reserved-peak oom" },
    { 0, "all-metrics", NULL,
      "also 1 - largest/free, which is near 1 in almost every recording and proves nothing",
      OPTION_FLAG, IN(all_metrics), NULL },
    { 'n', "rows", "COUNT", "show at most COUNT segments (default 10; in JSON all)", OPTION_COUNT,
      IN(common.rows), NULL },
    { 0, "replay", "WHEN",
      "replay the allocator, which makes active and allocated bytes exact: auto (default, up to "
      "200,000 events), always or never",
      OPTION_CHOICE, IN(common.replay), "auto always never" },
    { 0 },
};

static struct vrs_fragments_options options_of(const struct fragments_settings *s, const char *path)
{
    return (struct vrs_fragments_options){
        .size = sizeof(struct vrs_fragments_options),
        .path = path,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = s->common.device,
        .at = s->at,
        .all_metrics = s->all_metrics,
    };
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_fragments_options o = options_of(settings, path);
    return vrs_fragments(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct fragments_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    struct vrs_fragments_options words = options_of(&settings, NULL);
    struct vrs_error err;
    if (vrs_fragments_check(&words, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    struct question question = { .ask = ask, .settings = &settings };
    return answer_files(self, &question, files, argv);
}

const struct command cmd_fragments = {
    .name = "fragments",
    .summary = "reserved memory that cannot be used, and the blocks that pin it",
    .synopsis = "[options] FILE...",
    .about =
        "Stranded bytes are free, but neither empty_cache nor a request that needs new memory\n"
        "gets them back: a block still in use lies in the same segment. Exit status: 0 done,\n"
        "2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope fragments run.pickle # what is stranded at the end\n"
                "vramscope fragments --at oom run.pickle # where memory ran out\n",
    .options = { options, input_options, output_options },
    .run = run,
};
