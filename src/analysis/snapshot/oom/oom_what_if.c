/* oom_what_if.c - a few settings, each a run of the model. */
#include "analysis/snapshot/oom/oom_what_if.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/whatif/sound_model.h"
#include "allocator/whatif/whatif.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"

/* Of two that help as much the earlier is offered. */
static const char *const settings[] = {
    "expandable_segments:True",   "max_split_size_mb:128",       "max_split_size_mb:512",
    "roundup_power2_divisions:4", "roundup_power2_divisions:16",
};

enum { EXPANDABLE, SETTINGS = sizeof settings / sizeof *settings };

enum vrs_status oom_what_if_ask(const struct proven_study *proven, uint64_t capacity_bytes,
                                int64_t first_event, int64_t last_event, struct oom_what_if *ret,
                                struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct sound_model model;
    struct oom_what_if best = { .agreement = proven->agreement->grade };
    *ret = best;
    if (!grade_is_exact(proven->agreement->grade) || capacity_bytes == UNKNOWN_U64)
        return VRS_OK;
    TRY(sound_model_begin(s->r, s->device, s->scratch, &model, err));
    TRY(sound_model_prove(&model, err));
    for (uint32_t i = 0; model.sound && i < SETTINGS; i++) {
        struct allocator_config config = model.recorded;
        struct whatif_answer answer;
        struct whatif_question q = { .config = &config,
                                     .capacity_bytes = capacity_bytes,
                                     .below_address = model.identities.below_address };
        /* What PyTorch would not take beside the recorded settings, or has already. */
        if (config_set(&config, str_from(settings[i]), NULL) != VRS_OK ||
            sound_model_same(&config, &model.recorded))
            continue;
        TRY(whatif_run(&model.program, &model.start, &q, &answer, err));
        bool serves = !answer.ran_out && answer.served_oom_event >= first_event &&
                      answer.served_oom_event <= last_event;
        best.tried++;
        if (i == EXPANDABLE)
            best.expandable = serves ? EXPANDABLE_SERVES : EXPANDABLE_RUNS_OUT;
        if (!serves)
            continue;
        if (best.setting == NULL || answer.reserved.bytes < best.reserved_peak_bytes) {
            best.setting = settings[i];
            best.reserved_peak_bytes = answer.reserved.bytes;
            best.left_bytes = capacity_bytes < answer.served_active_bytes
                                  ? 0
                                  : capacity_bytes - answer.served_active_bytes;
        }
    }
    best.runs_out = best.setting == NULL;
    *ret = best;
    return VRS_OK;
}
