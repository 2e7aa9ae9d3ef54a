/* file_facts.h - what is said of a file and of a device, whatever was asked about them. */
#ifndef VRS_MODEL_FILE_FACTS_H
#define VRS_MODEL_FILE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/recording.h"

struct file_facts {
    str path;
    str entry; /* ptr NULL: the file is one recording */
    struct origin origin;
    uint64_t events;      /* of all devices */
    uint64_t wrong_types; /* values of a wrong type, taken as absent */
};

struct device_name {
    uint32_t number;
    bool host; /* pinned memory of the host, never to be added to a GPU's */
};

static inline struct device_name device_name_of(const struct recording *r, uint32_t device)
{
    return (struct device_name){ r->devices.number[device],
                                 r->devices.kind[device] == DEVICE_HOST };
}

#endif
