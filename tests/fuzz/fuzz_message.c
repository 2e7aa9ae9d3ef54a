/* fuzz_message.c - bytes as what a person copied of an out-of-memory error, beside a recording. */
#include "fuzz_text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/oom/oom_message.h"
#include "base/arena.h"
#include "base/str.h"
#include "vramscope/snapshot.h"

static void check_said(struct said said)
{
    require(!is_said(said) || said.bytes <= (uint64_t)1 << 62, "more bytes than there are");
    require(said_agrees(said, said.bytes), "a figure does not agree with itself");
}

/* Lines are broken anywhere: which white space it is makes no difference. */
static void check_read(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct oom_message m, other;
    char *text = fuzz_copy(data, size);
    arena_init(&arena, SIZE_MAX / 2);
    require(oom_message_read((str){ text, size }, &arena, &m, NULL) == VRS_OK, "out of memory");
    const struct said said[] = { m.tried,     m.capacity,      m.free,        m.process, m.allowed,
                                 m.allocated, m.private_pools, m.unallocated, m.reserved };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        check_said(said[i]);
        require(m.any || !is_said(said[i]), "nothing was recognised, and something said");
    }
    check_said(oom_message_reserved(&m));
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] == ' ' ? '\n' : text[i];
    require(oom_message_read((str){ text, size }, &arena, &other, NULL) == VRS_OK, "out of memory");
    require(m.any == other.any && m.device == other.device && m.tried.bytes == other.tried.bytes &&
                m.process.bytes == other.process.bytes && m.free.bytes == other.free.bytes &&
                m.reserved.bytes == other.reserved.bytes,
            "a line break changes what is said");
    arena_free(&arena);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_read(data, size);
    char *text = fuzz_copy(data, size);
    struct vrs_error err = { .message = "" };
    struct vrs_result *result = NULL;
    struct vrs_oom_options options = { .size = sizeof options, .message = text };
    enum vrs_status status = vrs_oom(fuzz_recording(), &options, &result, &err);
    if (status == VRS_OK)
        fuzz_write_both(result);
    else
        fuzz_refused(status, &err);
    free(text);
    return 0;
}
