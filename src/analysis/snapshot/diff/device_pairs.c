/* device_pairs.c - devices of one number, or the only GPUs. */
#include "analysis/snapshot/diff/device_pairs.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

static bool has_memory(const struct recording *r, uint32_t device)
{
    return r->devices.events[device] > 0 || r->devices.segments[device] > 0;
}

static uint32_t find_device(const struct recording *r, uint8_t kind, uint32_t number)
{
    for (uint32_t d = 0; d < r->devices.rows.len; d++)
        if (r->devices.kind[d] == kind && r->devices.number[d] == number)
            return d;
    return NO_ROW;
}

uint32_t only_device(const struct recording *r)
{
    uint32_t found = NO_ROW;
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        if (r->devices.kind[d] != DEVICE_CUDA || !has_memory(r, d))
            continue;
        if (found != NO_ROW)
            return NO_ROW;
        found = d;
    }
    return found;
}

/* A device that only one side has, or that holds nothing on either, says nothing. */
static bool is_worth(const struct recording *const r[2], struct device_pair pair)
{
    for (int s = 0; s < 2; s++)
        if (pair.device[s] != NO_ROW && has_memory(r[s], pair.device[s]))
            return true;
    return false;
}

static enum vrs_status named_device(const struct recording *r, int64_t number, uint32_t *ret,
                                    struct vrs_error *err)
{
    *ret = number > UINT32_MAX ? NO_ROW : find_device(r, DEVICE_CUDA, (uint32_t)(number - 1));
    if (*ret == NO_ROW)
        return vrs_fail(err, VRS_USAGE, "no device %lld in one of the recordings",
                        (long long)number - 1);
    return VRS_OK;
}

static void pair_by_number(const struct recording *const r[2], struct device_pair *ret,
                           uint32_t *ret_count)
{
    for (uint32_t d = 0; d < r[0]->devices.rows.len; d++) {
        struct device_pair pair = { { d, find_device(r[1], r[0]->devices.kind[d],
                                                     r[0]->devices.number[d]) } };
        if (is_worth(r, pair))
            ret[(*ret_count)++] = pair;
    }
    for (uint32_t d = 0; d < r[1]->devices.rows.len; d++) {
        struct device_pair pair = { { NO_ROW, d } };
        bool known = find_device(r[0], r[1]->devices.kind[d], r[1]->devices.number[d]) != NO_ROW;
        if (!known && is_worth(r, pair))
            ret[(*ret_count)++] = pair;
    }
}

enum vrs_status device_pairs_find(const struct recording *const r[2], const int64_t number[2],
                                  struct device_pair *ret, uint32_t *ret_count,
                                  struct vrs_error *err)
{
    struct device_pair only = { { only_device(r[0]), only_device(r[1]) } };
    *ret_count = 0;
    if (number[0] != 0 || number[1] != 0) {
        for (int s = 0; s < 2; s++)
            if (number[s] != 0 || only.device[s] == NO_ROW)
                TRY(named_device(r[s], number[s] == 0 ? 1 : number[s], &only.device[s], err));
        ret[(*ret_count)++] = only;
    } else if (only.device[0] != NO_ROW && only.device[1] != NO_ROW) {
        ret[(*ret_count)++] = only;
    } else {
        pair_by_number(r, ret, ret_count);
    }
    return VRS_OK;
}
