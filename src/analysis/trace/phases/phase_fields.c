/* phase_fields.c - the members of phases, as JSON and columns have them. */
#include <stddef.h>

#include "analysis/trace/phases/phases.h"
#include "base/field.h"

static const struct field phase_fields[] = {
    { "phase", "phase", UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_phase_row, phase),
      FIELD_NAMES(trace_phase_names) },
    { "wall_ns", "wall", UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_phase_row, wall_ns) },
    { "device_ns", "device", UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_phase_row, device_ns) },
};
const struct row_type trace_phase_row_type =
    LINE_ROW_TYPE("phase", struct trace_phase_row, phase_fields);

/* Of a step, one phase on the wall and one on devices. */
#define WALL(name, phase)                                                                          \
    {                                                                                              \
        name, NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step_phases, wall_ns[phase])      \
    }
#define DEVICE(name, phase)                                                                        \
    {                                                                                              \
        name, NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_step_phases, device_ns[phase])    \
    }
static const struct field step_phases_fields[] = {
    { "step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_step_phases, step) },
    WALL("data_ns", PHASE_DATA),
    WALL("optimizer_ns", PHASE_OPTIMIZER),
    WALL("recompute_ns", PHASE_RECOMPUTE),
    WALL("backward_ns", PHASE_BACKWARD),
    WALL("forward_ns", PHASE_FORWARD),
    WALL("other_ns", PHASE_OTHER),
    DEVICE("data_device_ns", PHASE_DATA),
    DEVICE("optimizer_device_ns", PHASE_OPTIMIZER),
    DEVICE("recompute_device_ns", PHASE_RECOMPUTE),
    DEVICE("backward_device_ns", PHASE_BACKWARD),
    DEVICE("forward_device_ns", PHASE_FORWARD),
    DEVICE("other_device_ns", PHASE_OTHER),
};
const struct row_type trace_step_phases_row_type =
    LINE_ROW_TYPE("step_phases", struct trace_step_phases, step_phases_fields);
