/* measurement.c - begins and ends measurements, and names their conditions. */
#include "model/measurement.h"

#include "base/arena.h"
#include "base/vec.h"

enum { TEXT_BYTES_MOST = 64 << 20 };

const char *const measured_condition_names[CONDITIONS] = {
    [CONDITION_MODEL] = "model",
    [CONDITION_BATCH_SIZE] = "batch_size",
    [CONDITION_INPUT_SHAPE] = "input_shape",
    [CONDITION_DEVICE] = "device",
    [CONDITION_DTYPE] = "dtype",
    [CONDITION_MODE] = "mode",
    [CONDITION_NUM_WORKERS] = "num_workers",
    [CONDITION_CUDNN_BENCHMARK] = "cudnn_benchmark",
    [CONDITION_GPU] = "gpu",
};

void measurement_init(struct measurement *m)
{
    *m = (struct measurement){ .time.max = MEASURED_ROWS_MOST,
                               .value.max = MEASURED_VALUES_MOST,
                               .figure.max = MEASURED_ROWS_MOST,
                               .phase.max = MEASURED_ROWS_MOST };
    arena_init(&m->text, TEXT_BYTES_MOST);
}

void measurement_free(struct measurement *m)
{
    vec_free(&m->time);
    vec_free(&m->value);
    vec_free(&m->figure);
    vec_free(&m->phase);
    arena_free(&m->text);
}
