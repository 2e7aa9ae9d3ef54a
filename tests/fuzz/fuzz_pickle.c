/* fuzz_pickle.c - pickles, and whatever else the bytes turn out to be; read alone, and with a scout
 * ahead, of which nothing may depend. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "format/read.h"
#include "fuzz_read.h"
#include "made/identical.h"
#include "model/recording.h"

static void read_both_ways(const uint8_t *data, size_t size)
{
    struct vrs_error err = { .message = "" }, ahead_err = { .message = "" };
    struct entries alone, ahead;
    uint32_t stretch_bytes = 300 + (uint32_t)(size % 7) * 400;
    enum vrs_status status = fuzz_entries(data, size, 0, &alone, &err);
    if (fuzz_entries(data, size, stretch_bytes, &ahead, &ahead_err) != status ||
        strcmp(err.message, ahead_err.message) != 0 || err.offset != ahead_err.offset)
        fuzz_fail("reading ahead ends otherwise", &ahead_err);
    if (status != VRS_OK)
        return;
    const struct recording *a = alone.list.at[0].recording, *b = ahead.list.at[0].recording;
    if (a != NULL && not_identical(a, b) != NULL) {
        vrs_fail(&err, VRS_CORRUPT, "%s", not_identical(a, b));
        fuzz_fail("reading ahead gives other rows", &err);
    }
    entries_free(&alone);
    entries_free(&ahead);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_both_ways(data, size);
    fuzz_read(data, size);
    return 0;
}
