/* fuzz_read.h - what every fuzz target does with its bytes: read, pair, verify.
 *
 * Whatever the bytes are, reading must end with recordings that keep every invariant, or with a
 * worded failure. */
#ifndef TESTS_FUZZ_FUZZ_READ_H
#define TESTS_FUZZ_FUZZ_READ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/read.h"
#include "model/pairing.h"
#include "model/recording.h"
#include "model/verify.h"

static inline void fuzz_fail(const char *what, const struct vrs_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    abort();
}

static inline void fuzz_recording(struct recording *r)
{
    struct vrs_error err = { .message = "" };
    enum vrs_status paired = pair_allocations(r, &err);
    if (paired == VRS_OK && verify_recording(r, &err) != VRS_OK)
        fuzz_fail("an invariant does not hold", &err);
    if (paired != VRS_OK && paired != VRS_NOMEM && paired != VRS_LIMIT)
        fuzz_fail("pairing failed", &err);
}

static inline enum vrs_status fuzz_entries(const uint8_t *data, size_t size, uint32_t stretch_bytes,
                                           struct entries *ret, struct vrs_error *err)
{
    /* Small limits: what they guard is reached, and a run stays fast. */
    static const struct limits limits = {
        .nesting = 64,
        .string_bytes = 1 << 16,
        .strings_bytes = 1 << 22,
        .items = 1 << 20,
        .unpacked_bytes = 1 << 24,
        .frames = 100,
    };
    struct memory_bytes bytes = { .start = data, .end = data + size };
    const struct read_options options = {
        .limits = &limits,
        .size_bytes = size,
        .ahead.stretch_bytes = stretch_bytes,
    };
    return read_recordings(source_of_memory(&bytes), &options, ret, err);
}

static inline void fuzz_read(const uint8_t *data, size_t size)
{
    struct vrs_error err = { .message = "" };
    struct entries entries;
    enum vrs_status status = fuzz_entries(data, size, 0, &entries, &err);
    if (status != VRS_OK) {
        if (err.status != status || err.message[0] == '\0')
            fuzz_fail("a failure without words", &err);
        return;
    }
    for (uint32_t i = 0; i < entries.list.len; i++) {
        const struct entry *entry = &entries.list.at[i];
        if (entry->status == VRS_OK)
            fuzz_recording(entry->recording);
        else if (entry->error.status != entry->status || entry->error.message[0] == '\0')
            fuzz_fail("an entry's failure without words", &entry->error);
    }
    entries_free(&entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
