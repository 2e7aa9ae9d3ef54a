/* cmd_peak.c - vramscope peak. */
#include "answer.h"
#include "help.h"
#include "message.h"

struct peak_settings {
    struct common common;
    const char *at, *by, *key;
    bool stacks;
};

#define IN(member) offsetof(struct peak_settings, member)

static const struct option_spec options[] = {
    { 0, "at", "MOMENT",
      "an event's number, start, end, peak (default), oom or oom:K (the K-th), step:K or "
      "phase:NAME (its peak), or seconds after the first event as 12.5s",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "by", "GROUPING",
      "culprit (default), owner, site, file, function, module, category, size, pool, stream or "
      "age",
      OPTION_CHOICE, IN(by),
      "culprit owner site file function module category size pool stream age" },
    { 0, "key", "KEY",
      "what makes two stacks one site: K0 all of both, K1 (default) file, line and function, "
      "K2 file and function, K3 function",
      OPTION_CHOICE, IN(key), "K0 K1 K2 K3" },
    { 'n', "rows", "COUNT", "show at most COUNT rows (default 20; in JSON all)", OPTION_COUNT,
      IN(common.rows), NULL },
    { 's', "stacks", NULL, "print the whole stack under each row", OPTION_FLAG, IN(stacks), NULL },
    { 0, "replay", "WHEN",
      "replay the allocator, which makes active and allocated bytes exact: auto (default, up to "
      "200,000 events), always or never",
      OPTION_CHOICE, IN(common.replay), "auto always never" },
    { 0 },
};

static struct vrs_peak_options options_of(const struct peak_settings *s, const char *path)
{
    return (struct vrs_peak_options){
        .size = sizeof(struct vrs_peak_options),
        .path = path,
        .user_root = s->common.user_root,
        .library = s->common.library,
        .device = s->common.device,
        .at = s->at,
        .by = s->by,
        .key = s->key,
        .categories = s->common.json,
    };
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_peak_options o = options_of(settings, path);
    return vrs_peak(recording, &o, ret, err);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct peak_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    struct vrs_peak_options words = options_of(&settings, NULL);
    struct vrs_error err;
    if (vrs_peak_check(&words, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    struct question question = {
        .ask = ask,
        .settings = &settings,
        .write = { .stacks = settings.stacks },
    };
    return answer_files(self, &question, files, argv);
}

const struct command cmd_peak = {
    .name = "peak",
    .summary = "who held the memory at the high-water mark, or at any moment",
    .synopsis = "[options] FILE...",
    .about = "Rows, other and adjust add up to the total exactly. A culprit is the innermost line\n"
             "of your own code in a stack; an owner may also be a library's. Exit status: 0 done,\n"
             "2 usage, 3 a file or the system failed, 130 interrupted.\n",
    .examples = "vramscope peak run.pickle # twenty lines that held most\n"
                "vramscope peak run.pickle --stacks -n 3 # with their whole stacks\n"
                "vramscope peak run.pickle --by owner # the function under your line\n"
                "vramscope peak run.pickle --by category # parameters, activations, …\n"
                "vramscope peak run.pickle --at end # what stayed\n",
    .options = { options, input_options, output_options },
    .run = run,
};
