/* meter_object.h - what is behind the public struct vrs_meter: ledgers, names, and who is to be
 * made anew in a child of fork. */
#ifndef VRS_API_PROFILER_METER_OBJECT_H
#define VRS_API_PROFILER_METER_OBJECT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/vec.h"
#include "profiler/meter.h"
#include "profiler/names.h"

/* An object of the meter that has locks of its own. */
struct forked {
    void (*renew)(void *object);
    void *object;
};

struct vrs_meter {
    struct meter meter;
    struct names names;
    pthread_mutex_t guard; /* of `forked` */
    VEC(struct forked) forked;
};

bool meter_object_add(struct vrs_meter *meter, struct forked who);
void meter_object_remove(struct vrs_meter *meter, const void *object);

#endif
