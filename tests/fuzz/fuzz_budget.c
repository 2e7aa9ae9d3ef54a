/* fuzz_budget.c - bytes as a file of limits, which a recording is then held against. */
#include "fuzz_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/check/budget.h"
#include "base/arena.h"
#include "base/str.h"
#include "vramscope/snapshot.h"

static void check_limits(const struct budget *b)
{
    for (uint32_t i = 0; i < b->limits; i++) {
        const struct limit *l = &b->limit[i];
        require(l->kind < LIMIT_KINDS, "a limit of no kind");
        require(l->amount.bytes <= INT64_MAX, "more bytes than there are");
        require((l->site != NULL) == (l->kind == LIMIT_SITE), "a site of another limit");
        require(amount_of(l->amount, INT64_MAX) >= 0, "a limit below nothing");
        for (uint32_t k = 0; k < i; k++)
            require(!str_equal(b->limit[k].name, l->name), "a limit twice");
    }
}

static void check_read(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct budget budget;
    struct vrs_error err = { .message = "" };
    arena_init(&arena, SIZE_MAX / 2);
    require(budget_make(&arena, &budget, &err) == VRS_OK, "out of memory");
    enum vrs_status status =
        budget_read(&budget, S("my.limits"), (str){ (const char *)data, size }, &err);
    if (status != VRS_OK) {
        fuzz_refused(status, &err);
        require(strncmp(err.message, "my.limits:", 10) == 0, "a refusal without a line");
    }
    check_limits(&budget);
    budget_free(&budget);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_read(data, size);
    char *text = fuzz_copy(data, size);
    struct vrs_error err = { .message = "" };
    struct vrs_result *result = NULL;
    struct vrs_check_options options = {
        .size = sizeof options,
        .budget = text,
        .budget_name = "my.limits",
        .baseline = fuzz_recording(),
    };
    enum vrs_status checked = vrs_check_check(&options, true, &err);
    enum vrs_status status = vrs_check(fuzz_recording(), &options, &result, &err);
    if (checked == VRS_OK && fuzz_took_too_long(status, &err, "max-site ")) {
        free(text);
        return 0;
    }
    require(checked == status, "checked with another outcome than used");
    if (status == VRS_OK) {
        static const enum vrs_format formats[] = { VRS_TEXT, VRS_JSON, VRS_JUNIT, VRS_MARKDOWN,
                                                   VRS_SARIF };
        require(vrs_verdict(result) != VRS_NO_VERDICT, "no verdict");
        fuzz_write(result, formats, sizeof formats / sizeof *formats);
    } else {
        fuzz_refused(status, &err);
    }
    free(text);
    return 0;
}
