/* cmd_replay.c - vramscope replay. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "vramscope/snapshot.h"

struct replay_settings {
    struct common common;
    struct option_list set, drop, scale, free_early;
    uint64_t capacity;
    bool sweep, smallest, anyway;
    const char *write;
    uint32_t threads; /* for the questions about one recording */
};

#define IN(member) offsetof(struct replay_settings, member)

static const struct option_spec options[] = {
    { 0, "set", "SETTING",
      "replay with other settings, written as in PYTORCH_CUDA_ALLOC_CONF (KEY:VALUE,...); may be "
      "repeated, all of them make one question",
      OPTION_LIST, IN(set), NULL },
    { 0, "capacity", "SIZE", "what the program can reserve, such as 24GiB (default: no limit)",
      OPTION_SIZE, IN(capacity), NULL },
    { 0, "sweep", NULL, "replay with each setting of a built-in list", OPTION_FLAG, IN(sweep),
      NULL },
    { 0, "smallest", NULL, "also find the least capacity with which each question completes",
      OPTION_FLAG, IN(smallest), NULL },
    { 0, "drop", "SITE",
      "leave out what this line allocated; SITE is a part of its name in report, or event:N for "
      "the stack of event N; may be repeated",
      OPTION_LIST, IN(drop), NULL },
    { 0, "scale", "SITE=FACTOR", "let this line request FACTOR times the bytes; may be repeated",
      OPTION_LIST, IN(scale), NULL },
    { 0, "free-early", "SITE=SCOPE",
      "free what this line allocated where SCOPE ends: the number of an event, or the name of an "
      "annotation; may be repeated",
      OPTION_LIST, IN(free_early), NULL },
    { 0, "anyway", NULL, "answer also where the model does not reproduce the recording",
      OPTION_FLAG, IN(anyway), NULL },
    { 0, "write", "FILE", "write the changed run of one recording to FILE, as a snapshot",
      OPTION_PATH, IN(write), NULL },
    OPTION_CSV("the questions (--set, --sweep, ...)"),
    { 0 },
};

static struct vrs_replay_options options_of(const struct replay_settings *s, const char *path)
{
    struct vrs_replay_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .set = s->set.at,
        .sets = s->set.count,
        .capacity_bytes = s->capacity,
        .sweep = s->sweep,
        .smallest = s->smallest,
        .drop = s->drop.at,
        .drops = s->drop.count,
        .scale = s->scale.at,
        .scales = s->scale.count,
        .free_early = s->free_early.at,
        .free_earlies = s->free_early.count,
        .anyway = s->anyway,
        .keep_run = s->write != NULL,
        .threads = s->threads,
    };
    return o;
}

static enum vrs_status ask(const struct vrs_recording *recording, const char *path,
                           const void *settings, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_replay_options o = options_of(settings, path);
    return vrs_replay(recording, &o, ret, err);
}

static int check(const struct replay_settings *settings)
{
    struct vrs_replay_options words = options_of(settings, NULL);
    struct vrs_error err;
    if (vrs_replay_check(&words, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    if (settings->write != NULL && settings->sweep) {
        message("--write takes one run and --sweep makes many; leave one of them out");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct replay_settings settings = { 0 };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    ended = check(&settings);
    if (ended != EXIT_DONE)
        return ended;
    settings.common.replay = "never"; /* the verb does it itself */
    /* Several files share the processors already. */
    settings.threads = files == 1 && !input_is_folder(argv[0]) ? settings.common.threads : 1;
    struct verb_question question = {
        .ask = ask,
        .settings = &settings,
        .snapshot = settings.write,
    };
    return answer_files(self, &question, files, argv);
}

const struct command cmd_replay = {
    .name = "replay",
    .summary = "what other settings would have done, in a replay of the allocator",
    .synopsis = "[options] FILE...",
    .about = "First the recorded requests drive a model of the allocator, and each address,\n"
             "segment and release it makes is compared with the recorded one. Where they\n"
             "agree, the model is asked what other settings, another device or changed code\n"
             "would have done; where they do not, an answer is given with that warning, or\n"
             "refused. Exit status: 0 done, 2 usage, 3 a file or the system failed, 130\n"
             "interrupted.\n",
    .examples = "vramscope replay run.pickle # can the model be trusted?\n"
                "vramscope replay run.pickle --sweep # which setting helps most\n"
                "vramscope replay run.pickle --capacity 24GiB # does it fit?\n"
                "vramscope replay run.pickle --drop loss.py:9 # what that line costs\n",
    .options = { options, input_options, output_options },
    .run = run,
};
