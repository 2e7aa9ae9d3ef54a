/* many.c - what a page says of several devices and files: which stacks are one site, who is an
 * outlier, what could not be read. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "render/page/column.h"
#include "render/page/page.h"
#include "render/write/json.h"

/* One side of a pair as it is packed. */
struct packing {
    const struct page_device *device;
    const struct diff_pairing *pairing;
    int side;
};

static uint64_t match(const void *from, uint32_t row)
{
    const struct packing *p = from;
    return row == 0 ? 0 : p->pairing->of_stack[p->side][p->device->stack_row[row]];
}

static uint64_t stage(const void *from, uint32_t row)
{
    enum { SMALL = DIFF_UNMATCHED + 1 };
    const struct diff_paired *one = &((const struct diff_pairing *)from)->at[row];
    return one->small ? (uint64_t)SMALL : (uint64_t)one->stage;
}

static uint64_t score(const void *from, uint32_t row)
{
    return ((const struct diff_pairing *)from)->at[row].score;
}

static enum vrs_status put(struct page_table *table, struct page_chunks *chunks,
                           const struct page_column *column, const void *from, uint32_t rows,
                           struct vrs_error *err)
{
    table->rows = rows;
    return page_queue(chunks, table, column, from) ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status page_pair_pack(const struct page_device *a, const struct page_device *b,
                               const struct diff_pairing *peak, const struct diff_pairing *ever,
                               struct page_chunks *chunks, uint32_t threads, struct page_pair *ret,
                               struct vrs_error *err)
{
    static const struct page_column of_stack[] = {
        { "peak", PAGE_U32, PAGE_AS_IT_IS, NULL, match, PAGE_NEEDED },
        { "ever", PAGE_U32, PAGE_AS_IT_IS, NULL, match, PAGE_NEEDED },
    };
    static const struct page_column of_match[] = {
        { "stage", PAGE_U8, PAGE_AS_IT_IS, NULL, stage, PAGE_NEEDED },
        { "score", PAGE_U32, PAGE_AS_IT_IS, "millionth", score, PAGE_NEEDED },
    };
    const struct diff_pairing *pairing[] = { peak, ever };
    const struct packing from[2][2] = { { { a, peak, 0 }, { b, peak, 1 } },
                                        { { a, ever, 0 }, { b, ever, 1 } } };
    for (int i = 0; i < 2; i++) {
        for (int side = 0; side < 2; side++)
            TRY(put(&ret->table[PAGE_PAIR_A + side], chunks, &of_stack[i], &from[i][side],
                    from[i][side].device->table[PAGE_STACK].rows, err));
        for (int c = 0; c < 2; c++)
            TRY(put(&ret->table[PAGE_PAIR_PEAK + i], chunks, &of_match[c], pairing[i],
                    pairing[i]->count, err));
    }
    ret->keyless = peak->keyless;
    ret->first = peak->first;
    return page_pack(chunks, PAGE_FIXED, threads, err);
}

static void put_pair(struct json *j, const struct page_pair *pair)
{
    static const char *const names[PAGE_PAIR_TABLES] = { "a", "b", "peak", "ever" };
    static const char *const keyless[] = {
        [DIFF_BY_CATEGORY] = "category",
        [DIFF_BY_SIZE] = "size",
        [DIFF_AS_ONE] = "one",
    };
    json_line_object(j, NULL);
    for (int side = 0; side < 2; side++) {
        json_line_object(j, side == 0 ? "a" : "b");
        json_u64(j, "file", pair->side[side].file);
        json_u64(j, "device", pair->side[side].device);
        json_u64(j, "peak_state", pair->side[side].peak_state);
        json_close(j);
    }
    json_text(j, "keyless", keyless[pair->keyless]);
    json_u64(j, "first", pair->first);
    page_put_tables(j, pair->table, names, PAGE_PAIR_TABLES);
    json_close(j);
}

/* Where a unit stands in the head. */
static void put_place(struct json *j, const struct page *v, const struct device_summary *summary)
{
    for (uint32_t f = 0; f < v->files; f++)
        for (uint32_t d = 0; d < v->file[f].devices; d++) {
            if (v->file[f].report->report[0].device[d].summary != summary)
                continue;
            json_u64(j, "file", f);
            json_u64(j, "device", d);
            if (v->file[f].device[d].peak_step == 0)
                json_null(j, "peak_step");
            else
                json_u64(j, "peak_step", v->file[f].device[d].peak_step);
        }
}

static void put_unit(struct json *j, const struct page *v, const struct rank_unit *u)
{
    int64_t over;
    json_line_object(j, NULL);
    put_place(j, v, u->summary);
    json_i64(j, "rank", u->rank);
    json_bool(j, "rank_named", u->rank_named);
    json_bool(j, "whole", u->whole);
    json_i64(j, "peak_bytes", u->summary->common_peak_bytes);
    json_text(j, "peak_phase", u->summary->peak_phase);
    if (ranks_over_median(v->ranks, u, &over))
        json_i64(j, "over_median_bytes", over);
    else
        json_null(j, "over_median_bytes");
    json_close(j);
}

static void put_ranks(struct json *j, const struct page *v)
{
    const struct ranks *ranks = v->ranks;
    if (ranks == NULL) {
        json_null(j, NULL);
        return;
    }
    json_object(j, NULL);
    json_array(j, "units");
    for (uint32_t i = 0; i < ranks->units; i++)
        put_unit(j, v, &ranks->unit[i]);
    json_close(j);
    json_known_fixed(j, "skew_ratio", ranks->skew_ratio, 6);
    json_line_array(j, "outliers");
    for (uint32_t i = 0; i < ranks->outliers; i++)
        json_u64(j, NULL, ranks->outlier[i]);
    json_close(j);
    json_known(j, "straggler", ranks->straggler == NO_ROW ? UNKNOWN_U64 : ranks->straggler);
    json_text(j, "verdict", ranks->has_pair ? ranks->pair.verdict : NULL);
    json_known(j, "reference", ranks->has_pair ? ranks->pair.reference : UNKNOWN_U64);
    json_close(j);
}

/* A member whose value a writer of its own puts. */
static void put_member(struct buf *to, const char *name, const struct page *v,
                       void (*put_value)(struct json *j, const struct page *v))
{
    struct json j;
    buf_format(to, ", \"%s\": ", name);
    json_start(&j, to);
    put_value(&j, v);
    json_finish(&j);
}

static void put_pairs(struct json *j, const struct page *v)
{
    json_array(j, NULL);
    for (uint32_t i = 0; i < v->pairs; i++)
        put_pair(j, &v->pair[i]);
    json_close(j);
}

static void put_unread(struct json *j, const struct page *v)
{
    json_array(j, NULL);
    for (uint32_t i = 0; i < v->unread.unreads; i++) {
        json_line_object(j, NULL);
        json_str(j, "file", v->unread.unread[i].path);
        json_str(j, "why", v->unread.unread[i].why);
        json_close(j);
    }
    json_close(j);
}

void page_many_head(struct buf *to, const struct page *v)
{
    put_member(to, "diff", v, put_pairs);
    put_member(to, "ranks", v, put_ranks);
    if (v->unread.unreads > 0)
        put_member(to, "unread", v, put_unread);
}
