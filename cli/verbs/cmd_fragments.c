/* cmd_fragments.c - vramscope fragments. */
#include <stdbool.h>
#include <stddef.h>

#include "answer.h"
#include "command.h"
#include "options.h"
#include "vramscope/snapshot.h"

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
      "also print 1 - largest/free, which is near 1 in almost every recording and proves nothing",
      OPTION_FLAG, IN(all_metrics), NULL },
    OPTION_ROWS("show at most COUNT segments (default 10; in JSON all)"),
    OPTION_CSV("the pools and streams"),
    { 0 },
};

static struct vrs_fragments_options options_of(const struct fragments_settings *s, const char *path)
{
    struct vrs_fragments_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .at = s->at,
        .all_metrics = s->all_metrics,
    };
    return o;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_fragments_options o = options_of(settings, path);
    return vrs_fragments(recording, &o, ret, err);
}

static enum vrs_status check(const void *settings, struct vrs_error *err)
{
    struct vrs_fragments_options words = options_of(settings, NULL);
    return vrs_fragments_check(&words, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct fragments_settings settings = { 0 };
    const struct verb_question question = { .ask = ask, .check = check, .settings = &settings };
    return answer_run(self, &question, argc, argv);
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
    .options = { options, replay_options, input_options, output_options },
    .run = run,
};
