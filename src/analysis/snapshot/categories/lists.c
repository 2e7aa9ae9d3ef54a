/* lists.c - gathers what each line keeps, and compares its sizes with those of the parameters. */
#include "analysis/snapshot/categories/lists.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"

/* Fewer tensors have sizes in common by chance. */
enum { LIST_LEAST = 4 };

enum { AGREEMENT_PERCENT = 95 }; /* of the list's bytes, and of the line's */

/* What a line keeps. */
struct kept {
    uint32_t line; /* frame_id of the culprit */
    uint64_t bytes;
    uint32_t allocation;
};

static int by_line(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

static int by_bytes(const void *a, const void *b)
{
    const struct size_count *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The sizes of the parameters that rules know; none where they are less than the gradients. */
static enum vrs_status known_sizes(const struct lists_input *in, struct arena *scratch,
                                   struct size_count **ret, uint32_t *ret_len,
                                   struct vrs_error *err)
{
    uint32_t len = 0, joined = 0;
    uint64_t bytes = 0, gradients = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        len += in->category[i] == CATEGORY_PARAMETER;
    struct size_count *size = arena_array(scratch, struct size_count, len);
    if (size == NULL)
        return vrs_no_memory(err);
    len = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        if (in->category[i] == CATEGORY_PARAMETER) {
            size[len++] = (struct size_count){ in->lifetimes->at[i].bytes, 1 };
            bytes += in->lifetimes->at[i].bytes;
        }
    for (uint32_t i = 0; i < in->sizes; i++)
        gradients += in->multiset[i].bytes * in->multiset[i].count;
    if (len > 1)
        qsort(size, len, sizeof *size, by_bytes);
    for (uint32_t i = 0; i < len; i++) {
        if (joined > 0 && size[joined - 1].bytes == size[i].bytes)
            size[joined - 1].count++;
        else
            size[joined++] = size[i];
    }
    *ret = size;
    *ret_len = bytes == 0 || bytes < gradients / 100 * AGREEMENT_PERCENT ? 0 : joined;
    return VRS_OK;
}

/* Does what a line keeps hold each size as often, once or several times over? */
static bool agree(const struct kept *kept, uint32_t len, const struct size_count *size,
                  uint32_t sizes)
{
    uint64_t bytes = 0, listed = 0, in_list = 0;
    uint32_t at = 0, times = 0;
    for (uint32_t i = 0; i < len; i++)
        bytes += kept[i].bytes;
    for (uint32_t i = 0; i < sizes; i++) {
        uint64_t of_size = size[i].bytes * size[i].count;
        uint32_t found = 0;
        listed += of_size;
        while (at < len && kept[at].bytes < size[i].bytes)
            at++;
        for (; at < len && kept[at].bytes == size[i].bytes; at++)
            found++;
        if (found == 0 || found % size[i].count != 0)
            continue;
        times = times == 0 ? found / size[i].count : times;
        in_list += found == times * size[i].count ? of_size : 0;
    }
    return len >= LIST_LEAST && in_list != 0 && in_list >= listed / 100 * AGREEMENT_PERCENT &&
           in_list * times >= bytes / 100 * AGREEMENT_PERCENT;
}

/* What is kept by lines, and known by no rule. */
static enum vrs_status gather(const struct lists_input *in, struct kept *kept, uint32_t *ret,
                              struct vrs_error *err)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        struct stack_names names;
        if (in->category[i] != CATEGORY_UNKNOWN || l->alloc_stack.n == 0 || l->bytes == 0 ||
            l->requested < in->events)
            continue;
        TRY(naming_of(in->naming, l->alloc_stack, &names, err));
        if (names.culprit_frame.n != 0)
            kept[len++] = (struct kept){ names.culprit_frame.n, l->bytes, i };
    }
    if (len > 1)
        qsort(kept, len, sizeof *kept, by_line);
    *ret = len;
    return VRS_OK;
}

enum vrs_status lists_find(const struct lists_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err)
{
    struct kept *kept = arena_array(scratch, struct kept, in->lifetimes->count);
    struct size_count *known;
    uint32_t len, known_len;
    *ret = arena_array(scratch, uint8_t, in->lifetimes->count);
    *ret_any = false;
    if (kept == NULL || *ret == NULL)
        return vrs_no_memory(err);
    TRY(known_sizes(in, scratch, &known, &known_len, err));
    TRY(gather(in, kept, &len, err));
    for (uint32_t first = 0, i = 1; i <= len; i++) {
        if (i < len && kept[i].line == kept[first].line)
            continue;
        uint8_t category = CATEGORY_UNKNOWN;
        if (known_len != 0 && agree(&kept[first], i - first, known, known_len))
            category = CATEGORY_PARAMETER_COPY;
        else if (known_len == 0 && agree(&kept[first], i - first, in->multiset, in->sizes))
            category = CATEGORY_PARAMETER;
        for (uint32_t k = first; k < i && category != CATEGORY_UNKNOWN; k++)
            (*ret)[kept[k].allocation] = category;
        *ret_any = *ret_any || category != CATEGORY_UNKNOWN;
        first = i;
    }
    return VRS_OK;
}
