/* ask.c - the questions about a recording: one table of options for each. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "vramscope/snapshot.h"
#include "vramscope/vramscope.h"

struct question {
    const char *kind; /* of its results */
    enum vrs_status (*ask)(const struct vrs_recording *recording, const void *frame,
                           struct vrs_result **ret, struct vrs_error *err);
    size_t device; /* in the frame, a struct vrs_device */
    bool is_drawn; /* pages of its results show the recording, too */
};

/* Asks with the frame that the arguments filled; NULL with an exception set. */
static PyObject *answer(struct call *c, PyObject *self, const struct question *q)
{
    const struct vrs_recording *recording = NULL;
    struct vrs_result *result = NULL;
    struct vrs_error err;
    const struct vrs_device *device = (const void *)(c->frame + q->device);
    if (!arguments_use(c, self, &recording))
        return NULL;
    PyThreadState *saved = PyEval_SaveThread();
    enum vrs_status status = q->ask(recording, c->frame, &result, &err);
    PyEval_RestoreThread(saved);
    if (status != VRS_OK)
        return raise_error(c->state, &err, NULL);
    if (PyErr_CheckSignals() != 0) {
        vrs_result_free(result);
        return NULL;
    }
    return answer_make(c->state, result, q->kind,
                       &(struct drawn){ .opened = q->is_drawn ? c->used[c->uses - 1] : NULL,
                                        .recording = recording,
                                        .device = device->plus_one });
}

static PyObject *ask(PyObject *self, PyObject *args, PyObject *kwargs, void *frame,
                     const struct signature *signature, const struct question *q)
{
    struct core_state *state = core_state_of_type(Py_TYPE(self));
    struct call c;
    PyObject *made = NULL;
    if (arguments_take(&c, state, frame, signature, args, kwargs))
        made = answer(&c, self, q);
    arguments_end(&c);
    return made;
}

/* What stands in the frame of a call besides the options, which come first. */
struct diff_frame {
    struct vrs_diff_options options;
    const struct vrs_recording *other;
};

#define IN(verb, member) offsetof(struct vrs_##verb##_options, member)
#define ABOUT(verb)                                                                                \
    { "path", PATH, IN(verb, about.path), 0 }, OPTIONS_ABOUT(struct vrs_##verb##_options),         \
        OPTIONS_END

/* The method of a question that is about one recording. */
#define ASK(verb, drawn)                                                                           \
    static enum vrs_status call_##verb(const struct vrs_recording *recording, const void *frame,   \
                                       struct vrs_result **ret, struct vrs_error *err)             \
    {                                                                                              \
        return vrs_##verb(recording, frame, ret, err);                                             \
    }                                                                                              \
    PyObject *ask_##verb(PyObject *self, PyObject *args, PyObject *kwargs)                         \
    {                                                                                              \
        static const struct signature signature = { #verb, verb##_options, 0, 0, false };          \
        static const struct question question = { #verb, call_##verb, IN(verb, about.device),      \
                                                  drawn };                                         \
        struct vrs_##verb##_options options = { .size = sizeof options };                          \
        return ask(self, args, kwargs, &options, &signature, &question);                           \
    }

static const struct option report_options[] = {
    { "timeline", FLAG, IN(report, timeline), 0 },
    { "quick", FLAG, IN(report, quick), 0 },
    { "trust", FLAG, IN(report, trust), 0 },
    { "part", FLAG, IN(report, part), 0 },
    { "rank", PLUS, IN(report, rank), 0 },
    { "one_clock", FLAG, IN(report, one_clock), 0 },
    { "peer_oom_us", PLUS, IN(report, peer_oom_us), 0 },
    { "curve", FLAG, IN(report, curve), 0 },
    ABOUT(report),
};
ASK(report, true)

static const struct option peak_options[] = {
    { "at", MOMENT, IN(peak, at), 0 },
    { "by", TEXT, IN(peak, by), 0 },
    { "key", TEXT, IN(peak, key), 0 },
    { "categories", FLAG, IN(peak, categories), 0 },
    ABOUT(peak),
};
ASK(peak, false)

static const struct option oom_options[] = {
    { "message", TEXT, IN(oom, message), 0 },
    { "capacity", SIZE, IN(oom, capacity_bytes), 0 },
    ABOUT(oom),
};
ASK(oom, false)

static const struct option leaks_options[] = {
    { "capacity", SIZE, IN(leaks, capacity_bytes), 0 },
    ABOUT(leaks),
};
ASK(leaks, false)

static const struct option steps_options[] = { ABOUT(steps) };
ASK(steps, false)

static const struct option fragments_options[] = {
    { "at", MOMENT, IN(fragments, at), 0 },
    { "all_metrics", FLAG, IN(fragments, all_metrics), 0 },
    ABOUT(fragments),
};
ASK(fragments, false)

static const struct option categories_options[] = {
    { "at", MOMENT, IN(categories, at), 0 },
    { "rules", TEXT, IN(categories, rules), 0 },
    { "rules_name", TEXT, IN(categories, rules_name), 0 },
    ABOUT(categories),
};
ASK(categories, false)

static const struct option advise_options[] = {
    { "waste", FLAG, IN(advise, waste), 0 },
    { "explain_silent", FLAG, IN(advise, explain_silent), 0 },
    { "capacity", SIZE, IN(advise, capacity_bytes), 0 },
    ABOUT(advise),
};
ASK(advise, false)

/* Does it keep a budget? */

static const struct option check_options[] = {
    { "limits", LIMITS, IN(check, limit), IN(check, limits) },
    { "budget", TEXT, IN(check, budget), 0 },
    { "budget_name", TEXT, IN(check, budget_name), 0 },
    { "rules", TEXT, IN(check, rules), 0 },
    { "rules_name", TEXT, IN(check, rules_name), 0 },
    { "baseline", RECORDING, IN(check, baseline), 0 },
    { "strict", FLAG, IN(check, strict), 0 },
    { "allow_estimates", FLAG, IN(check, allow_estimates), 0 },
    ABOUT(check),
};

static enum vrs_status call_check(const struct vrs_recording *recording, const void *frame,
                                  struct vrs_result **ret, struct vrs_error *err)
{
    return vrs_check(recording, frame, ret, err);
}

PyObject *ask_check(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct signature signature = { "check", check_options, 0, 1, false };
    static const struct question question = { "check", call_check, IN(check, about.device), false };
    struct vrs_check_options options = { .size = sizeof options };
    return ask(self, args, kwargs, &options, &signature, &question);
}

/* What would have happened otherwise? */

static const struct option replay_options[] = {
    { "set", TEXTS, IN(replay, set), IN(replay, sets) },
    { "capacity", SIZE, IN(replay, capacity_bytes), 0 },
    { "sweep", FLAG, IN(replay, sweep), 0 },
    { "smallest", FLAG, IN(replay, smallest), 0 },
    { "drop", TEXTS, IN(replay, drop), IN(replay, drops) },
    { "scale", PAIRS, IN(replay, scale), IN(replay, scales) },
    { "free_early", PAIRS, IN(replay, free_early), IN(replay, free_earlies) },
    { "anyway", FLAG, IN(replay, anyway), 0 },
    { "keep_run", FLAG, IN(replay, keep_run), 0 },
    { "threads", THREADS, IN(replay, threads), 0 },
    ABOUT(replay),
};
ASK(replay, false)

static enum vrs_status call_what_if(const struct vrs_recording *recording, const void *frame,
                                    struct vrs_result **ret, struct vrs_error *err)
{
    const struct vrs_replay_options *o = frame;
    if (o->sets + o->drops + o->scales + o->free_earlies > 0 || o->capacity_bytes > 0 || o->sweep ||
        o->smallest)
        return vrs_replay(recording, o, ret, err);
    *err = (struct vrs_error){
        .status = VRS_USAGE,
        .offset = UINT64_MAX,
        .message = "what_if() needs something that is otherwise: a setting, as "
                   "\"expandable_segments:True\", capacity, drop, scale, free_early, sweep or "
                   "smallest",
    };
    return VRS_USAGE;
}

PyObject *ask_what_if(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct signature signature = { "what_if", replay_options, 0, 0, true };
    static const struct question question = { "replay", call_what_if, IN(replay, about.device),
                                              false };
    struct vrs_replay_options options = { .size = sizeof options };
    return ask(self, args, kwargs, &options, &signature, &question);
}

/* What changed? */

static const struct option diff_options[] = {
    { "other", RECORDING, offsetof(struct diff_frame, other), 0 },
    { "b_path", PATH, IN(diff, b_path), 0 },
    { "b_device", DEVICE, IN(diff, b_device), 0 },
    { "at", MOMENT, IN(diff, at), 0 },
    { "to", MOMENT, IN(diff, to), 0 },
    { "weight", TEXT, IN(diff, weight), 0 },
    { "key", TEXT, IN(diff, key), 0 },
    { "per", TEXT, IN(diff, per), 0 },
    { "by", TEXT, IN(diff, by), 0 },
    { "fail_over", ROOM, IN(diff, fail_over_bytes), IN(diff, fail_over_millionths) },
    { "threads", THREADS, IN(diff, threads), 0 },
    ABOUT(diff),
};

static enum vrs_status call_diff(const struct vrs_recording *recording, const void *frame,
                                 struct vrs_result **ret, struct vrs_error *err)
{
    const struct diff_frame *f = frame;
    return vrs_diff(recording, f->other, &f->options, ret, err);
}

PyObject *ask_diff(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static const struct signature signature = { "diff", diff_options, 1, 1, false };
    static const struct question question = { "diff", call_diff, IN(diff, about.device), false };
    struct diff_frame frame = { .options = { .size = sizeof frame.options } };
    return ask(self, args, kwargs, &frame, &signature, &question);
}
