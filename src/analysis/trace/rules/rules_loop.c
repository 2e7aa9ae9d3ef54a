/* rules_loop.c - rules about what the program's own lines do in each step, and where the time of
 * loading passes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

static void name_line(struct judging *j, uint32_t line)
{
    if (line != 0)
        j->found->line = trace_text(j->f->study->trace, line);
}

/* Loading. */

/* A function, or the operators, hold more than half of the loading. */
static bool is_most(const struct rule_facts *f, int64_t ns)
{
    return ns > f->wall[PHASE_DATA] / 2;
}

/* What {workers} of an advice is: of a machine that is not known no more than holds for all, and
 * pinned memory only where a device is copied to. */
#define WORKERS_OF_ANY "num_workers=8, or the number of processors if that is less; "
#define WORKERS_OF_THIS "num_workers={num_workers}, "
#define WORKERS_ALWAYS "persistent_workers=True, prefetch_factor=4"
#define WORKERS_PINNED ", pin_memory=True"

/* Eight, or twice as many as there are; never more than processors. */
static int64_t advised_workers(const struct trace_limits *limits)
{
    const int64_t usual = 8;
    int64_t most = limits->processors, there = limits->workers;
    int64_t more = there < usual ? usual : there > most / 2 ? most : 2 * there;
    return more < most ? more : most;
}

/* The loader is known to have a worker for each processor. */
static bool has_all_workers(const struct trace_limits *limits)
{
    return limits->processors > 0 && limits->workers >= limits->processors;
}

static void name_workers(struct judging *j)
{
    int64_t processors = j->f->limits->processors;
    if (processors > 0)
        judge_note(j, "num_workers", (double)advised_workers(j->f->limits));
    if (j->f->card != NULL)
        j->found->workers = processors > 0 ? WORKERS_OF_THIS WORKERS_ALWAYS WORKERS_PINNED
                                           : WORKERS_OF_ANY WORKERS_ALWAYS WORKERS_PINNED;
    else
        j->found->workers =
            processors > 0 ? WORKERS_OF_THIS WORKERS_ALWAYS : WORKERS_OF_ANY WORKERS_ALWAYS;
}

/* The first where a device worked, which can do some of it. */
static static_text with_or_without(const struct judging *j, static_text device, static_text host)
{
    return j->f->card != NULL ? device : host;
}

void judge_loading(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct rule_loop *l = &f->loop;
    bool has_all = has_all_workers(f->limits);
    name_workers(j);
    if (l->load_line != 0 && is_most(f, l->load_line_ns)) {
        name_line(j, l->load_line);
        judge_note(j, "line_ns", (double)l->load_line_ns);
        judge_note(j, "line_waited_ns", (double)l->load_waited_ns);
        j->found->advice =
            l->load_waited_ns > l->load_line_ns / 2
                ? "{line_waited_ns} of it {line} slept or read files: keep samples in memory, read "
                  "from a faster disk (SSD), and give the loader workers ({workers})"
                : with_or_without(
                      j,
                      "{line_ns} of it {line} computed: do that once before the training, or on "
                      "the device for the whole batch; else give the loader workers ({workers})",
                      "{line_ns} of it {line} computed: do that once before the training, or for "
                      "the whole batch at once; else give the loader workers ({workers})");
    } else if (l->has_workers) {
        name_line(j, l->waiting_line);
        j->found->advice =
            has_all ? "the loop waited for the loader's workers, whose code is not in the trace, "
                      "and there is one for each processor: do less in them, or do it once before "
                      "the training; record with num_workers=0 to see which line they are slow in"
                    : "the loop waited for the loader's workers, whose code is not in the trace: "
                      "use more of them, as long as there are processors for them ({workers}); "
                      "record with num_workers=0 to see which line they are slow in";
    } else if (l->load_op != 0 && is_most(f, l->load_ops_ns)) {
        judge_note(j, "load_ops_ns", (double)l->load_ops_ns);
        j->found->advice = with_or_without(
            j,
            "{load_ops_ns} of it are operators: do what they do once before the training, or on "
            "the device for the whole batch; else give the loader workers ({workers})",
            "{load_ops_ns} of it are operators: do what they do once before the training, or for "
            "the whole batch at once; else give the loader workers ({workers})");
    } else if (has_all) {
        j->found->advice = with_or_without(
            j,
            "keep decoded samples, or augment on the device: the loader has a worker for each "
            "processor",
            "keep decoded samples: the loader has a worker for each processor");
    } else {
        j->found->advice = with_or_without(
            j,
            "give the loader workers ({workers}), keep decoded samples, or augment on the device",
            "give the loader workers ({workers}), or keep decoded samples");
    }
}

/* What is done again in each step. */

/* Where a device works, other rules tell what the host does to it. */
static bool has_no_device(struct judging *j, static_text clause)
{
    if (j->f->card != NULL)
        return judge_no(j, clause);
    return j->f->report->step_track != NO_ROW || judge_no(j, "the steps are of no thread");
}

/* What the numbers of a habit are called. */
struct habit_names {
    static_text count, ns, steps;
};

/* How often, how long and in how many steps; in which call and line most of it is. */
static void note_habit(struct judging *j, const struct rule_habit *h,
                       const struct habit_names *names)
{
    judge_note(j, names->count, (double)h->calls.count);
    judge_note(j, names->ns, (double)h->calls.ns);
    judge_note(j, names->steps, h->steps);
    judge_note(j, "steps", j->f->steps);
    judge_culprit(j, h->calls.longest);
    name_line(j, h->line);
    j->found->gain_ns = h->calls.ns;
}

/* "item of Tensor" of "<built-in method item of Tensor object at 0x7f1d>". */
static str without_address(str name)
{
    const str begin = S("<built-in method ");
    size_t end = str_find(name, S(" object at "));
    if (end == name.len || !str_starts(name, begin))
        return name;
    return (str){ name.ptr + begin.len, end - begin.len };
}

bool rule_item_step(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct rule_habit *reads = &f->loop.reads;
    if (!has_no_device(j, "device activity was recorded, and SYNC-STEP tells what waits for it"))
        return false;
    if (reads->calls.count == 0)
        return judge_no(j, "no step takes a value out of a tensor but within the framework");
    note_habit(j, reads, &(struct habit_names){ "reads", "reads_ns", "steps_with_reads" });
    j->found->culprit = without_address(j->found->culprit);
    return judge_from(j, "item_steps_ratio", judge_share(reads->steps, f->steps), ITEM_STEPS);
}

static double copied_share(const struct rule_facts *f)
{
    return judge_share((double)f->loop.copies.calls.ns, (double)f->steps_ns);
}

bool rule_step_other(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct rule_loop *l = &f->loop;
    if (!has_no_device(j, "device activity was recorded, and GPU-LOW and HOST-1 tell what it waits "
                          "for"))
        return false;
    if (!l->has_forward)
        return judge_no(j, "neither a frame of a module nor a range of the forward was recorded, "
                           "so that the forward is not told from the work before it");
    if (l->copies.steps == f->steps && copied_share(f) > f->limits->at[COPY_STEP] &&
        l->other_copied_ns > l->other_ns / 2)
        return judge_no(j, "most of what is outside the phases are copies, which COPY-STEP names");
    judge_note(j, "other_ns", (double)l->other_ns);
    judge_note(j, "steps_ns", (double)f->steps_ns);
    name_line(j, l->other_line);
    j->found->gain_ns = l->other_ns;
    if (l->other_op != 0 && l->other_op_ns > l->other_ns / 4) {
        j->found->culprit = trace_text(f->study->trace, l->other_op);
        judge_note(j, "culprit_op_ns", (double)l->other_op_ns);
        j->found->advice = "{culprit_op_ns} of it are {culprit}: do that in the loader's workers, "
                           "or once before the training";
    } else if (l->other_line != 0) {
        judge_note(j, "line_ns", (double)l->other_line_ns);
        j->found->advice = "{line_ns} of it are {line} itself: do that in the loader's workers, "
                           "once before the training, or every so many steps";
    }
    judge_note(j, "steps_with_other", l->other_steps);
    bool takes = judge_above(j, "step_other_ratio",
                             judge_share((double)l->other_ns, (double)f->steps_ns), STEP_OTHER);
    /* A busy machine stalls a thread once, wherever it is; what a loop does, it does again. */
    return takes && (l->other_steps > f->steps / 2 ||
                     judge_no(j, "it is in no more than half of the steps, as where the machine "
                                 "stalled (trace --steps shows which)"));
}

bool rule_copy_step(struct judging *j)
{
    const struct rule_facts *f = j->f;
    const struct rule_habit *copies = &f->loop.copies;
    if (!has_no_device(j, "device activity was recorded, and COPY-40, BW-LOW and H2D-EXPOSED judge "
                          "copies"))
        return false;
    if (!f->loop.has_frames && !f->loop.has_forward)
        return judge_no(j, "neither frames of Python (with_stack=True) nor a range of the forward "
                           "were recorded, so that copies of the program are not told from those "
                           "of the model");
    if (copies->calls.count == 0)
        return judge_no(j, "no line of the program copies a tensor in a step");
    note_habit(j, copies, &(struct habit_names){ "copies", "copied_ns", "steps_with_copies" });
    bool in_each = copies->steps == f->steps;
    bool takes = judge_above(j, "copy_step_ratio", copied_share(f), COPY_STEP);
    return takes && (in_each || judge_no(j, "some step copies nothing"));
}
