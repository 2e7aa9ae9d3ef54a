/* fuzz_peek.c - bytes of which the first say whether they are a profiler trace.
 *
 * However they come, the answer must be the same, and afterwards all of them must be there still,
 * with nothing behind them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/peek.h"
#include "made/dribble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "this does not hold: %s\n", what);
    abort();
}

static void check_all_there(struct source source, const uint8_t *data, size_t size, size_t step)
{
    uint8_t part[4096];
    size_t at = 0, got = 1;
    while (got > 0) {
        size_t wanted = step == 0 || step > sizeof part ? sizeof part : step;
        require(source.read(source.self, part, wanted, &got, NULL) == VRS_OK, "all can be read");
        require(got <= wanted && got <= size - at, "there are no more bytes than there were");
        require(got == 0 || memcmp(part, data + at, got) == 0, "the bytes are those that came");
        at += got;
    }
    require(at == size, "no byte is lost");
}

static enum vrs_status look(struct source source, const uint8_t *data, size_t size, size_t step,
                            enum peeked_kind *ret)
{
    struct peeked peeked;
    struct vrs_error err = { .message = "" };
    enum vrs_status status = peek_kind(source, &peeked, ret, &err);
    if (status == VRS_OK)
        check_all_there(source_of_peeked(&peeked), data, size, step);
    else
        require(err.status == status && err.message[0] != 0, "a failure has words");
    peeked_free(&peeked);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_bytes memory = { .start = data, .end = data + size };
    enum peeked_kind kind, again;
    enum vrs_status status = look(source_of_memory(&memory), data, size, 0, &kind);
    const size_t steps[] = { 0, 1 + size % 7, 1000 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct dribble d = { .at = data, .left = size, .step = steps[i] };
        require(look(dribble_source(&d), data, size, steps[i], &again) == status &&
                    (status != VRS_OK || again == kind),
                "portions change no answer");
    }
    return 0;
}
