/* config_parse.c - the grammar of PyTorch's settings string.
 *
 *     string  = item *("," item)
 *     item    = key ":" value
 *     value   = word | "[" pair *("," pair) "]"
 *     pair    = name ":" word
 *
 * The text is cut at , : [ ] and blanks are dropped, also inside a word, as PyTorch does.  Like
 * PyTorch it takes a comma at the end, of the string or of a list, and an empty list.  Unlike it, a
 * number is the whole word, so that a slip such as 128MB or -1 is an error and no other number. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/str.h"

/* Longer than any key and any sensible number; a longer word is cut and then matches nothing. */
enum { WORD_BYTES = 80 };

enum { TOKEN_END = '\0', TOKEN_WORD = 'w' };

struct token {
    char kind;             /* TOKEN_END, TOKEN_WORD, or one of , : [ ] for itself */
    char text[WORD_BYTES]; /* of a word; printable, since messages show it */
};

struct reader {
    str text;
    size_t at;
};

/* Reads what follows `key:` into `c`. */
typedef enum vrs_status read_value(struct reader *in, const char *key, struct allocator_config *c,
                                   struct vrs_error *err);

/* Words and marks. */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_mark(char c)
{
    return c == ',' || c == ':' || c == '[' || c == ']';
}

static char printable(char c)
{
    if (c > ' ' && c <= '~')
        return c;
    return '?';
}

static void skip_blanks(struct reader *in)
{
    while (in->at < in->text.len && is_blank(in->text.ptr[in->at]))
        in->at++;
}

static void read_token(struct reader *in, struct token *ret)
{
    size_t len = 0;
    skip_blanks(in);
    if (in->at < in->text.len && is_mark(in->text.ptr[in->at])) {
        ret->kind = in->text.ptr[in->at++];
        ret->text[0] = ret->kind;
        ret->text[1] = '\0';
        return;
    }
    for (; in->at < in->text.len && !is_mark(in->text.ptr[in->at]); in->at++) {
        char c = in->text.ptr[in->at];
        if (is_blank(c))
            continue;
        if (len < WORD_BYTES)
            ret->text[len] = printable(c);
        len++;
    }
    ret->kind = len > 0 ? TOKEN_WORD : TOKEN_END;
    if (len >= WORD_BYTES)
        memcpy(ret->text + WORD_BYTES - sizeof "...", "...", sizeof "...");
    else
        ret->text[len] = '\0';
}

static enum vrs_status read_word(struct reader *in, const char *key, struct token *ret,
                                 struct vrs_error *err)
{
    read_token(in, ret);
    if (ret->kind == TOKEN_WORD)
        return VRS_OK;
    if (ret->kind == '[')
        return vrs_fail(err, VRS_USAGE, "%s takes a single value, not a list", key);
    return vrs_fail(err, VRS_USAGE, "%s has no value", key);
}

static enum vrs_status read_colon(struct reader *in, const char *before, struct vrs_error *err)
{
    struct token token;
    read_token(in, &token);
    if (token.kind == ':')
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "\":\" and a value must follow %s", before);
}

/* Kinds of values. */

/* Letters that differ in case only, which is how a wrong boolean is mostly wrong. */
static bool same_letters(const char *a, const char *b)
{
    for (; *a != '\0' && (*a | 0x20) == (*b | 0x20); a++)
        b++;
    return *a == '\0' && *b == '\0';
}

static enum vrs_status read_boolean(struct reader *in, const char *key, bool *ret,
                                    struct vrs_error *err)
{
    struct token token;
    TRY(read_word(in, key, &token, err));
    bool yes = strcmp(token.text, "True") == 0;
    if (yes || strcmp(token.text, "False") == 0) {
        *ret = yes;
        return VRS_OK;
    }
    const char *meant = same_letters(token.text, "True")    ? "; the nearest is True"
                        : same_letters(token.text, "False") ? "; the nearest is False"
                                                            : "";
    return vrs_fail(err, VRS_USAGE, "%s must be True or False, not %s%s", key, token.text, meant);
}

static bool whole_number(const struct token *token, uint64_t *ret)
{
    uint64_t bits;
    bool negative;
    if (!number_integer(str_from(token->text), &bits, &negative) || negative)
        return false;
    *ret = bits;
    return true;
}

static enum vrs_status read_whole(struct reader *in, const char *key, uint64_t *ret,
                                  struct vrs_error *err)
{
    struct token token;
    TRY(read_word(in, key, &token, err));
    if (whole_number(&token, ret))
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s must be a whole number, not %s", key, token.text);
}

static enum vrs_status read_real(struct reader *in, const char *key, struct token *ret_token,
                                 double *ret, struct vrs_error *err)
{
    TRY(read_word(in, key, ret_token, err));
    double real;
    if (!number_real(str_from(ret_token->text), &real) || !isfinite(real))
        return vrs_fail(err, VRS_USAGE, "%s must be a number, not %s", key, ret_token->text);
    *ret = real;
    return VRS_OK;
}

/* Any `mib` is a size; PyTorch, too, cuts what is too large. */
static uint64_t mebibytes(uint64_t mib)
{
    return mib < ENDLESS_BYTES / MIB ? mib * MIB : ENDLESS_BYTES;
}

static bool power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* Keys that change the model. */

/* How small it may be depends on another key, see check_split. */
static enum vrs_status set_max_split(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    uint64_t mib = 0;
    TRY(read_whole(in, key, &mib, err));
    c->max_split_bytes = mebibytes(mib);
    if (c->max_split_bytes == ENDLESS_BYTES)
        c->max_split_bytes = UINT64_MAX;
    return VRS_OK;
}

static enum vrs_status set_non_split_rounding(struct reader *in, const char *key,
                                              struct allocator_config *c, struct vrs_error *err)
{
    uint64_t mib = 0;
    TRY(read_whole(in, key, &mib, err));
    if (mib < 20)
        return vrs_fail(err, VRS_USAGE, "%s must be at least 20, not %llu", key,
                        (unsigned long long)mib);
    c->non_split_rounding_bytes = mebibytes(mib);
    return VRS_OK;
}

/* The upper end is ours: a segment larger than any device would only make sums wrap. */
static enum vrs_status set_large_segment(struct reader *in, const char *key,
                                         struct allocator_config *c, struct vrs_error *err)
{
    enum { MIB_MOST = 1 << 20 };
    uint64_t mib = 0;
    TRY(read_whole(in, key, &mib, err));
    if (mib <= OWN_SEGMENT_MIN / MIB)
        return vrs_fail(err, VRS_USAGE, "%s must be more than 10, not %llu", key,
                        (unsigned long long)mib);
    if (mib > MIB_MOST)
        return vrs_fail(err, VRS_USAGE, "%s must be at most %d, not %llu", key, MIB_MOST,
                        (unsigned long long)mib);
    c->large_segment_bytes = mib * MIB;
    return VRS_OK;
}

static enum vrs_status set_gc_threshold(struct reader *in, const char *key,
                                        struct allocator_config *c, struct vrs_error *err)
{
    struct token token;
    double threshold = 0;
    TRY(read_real(in, key, &token, &threshold, err));
    if (threshold <= 0 || threshold >= 1)
        return vrs_fail(err, VRS_USAGE, "%s must be more than 0 and less than 1, not %s", key,
                        token.text);
    c->gc_threshold = threshold;
    return VRS_OK;
}

static enum vrs_status set_memory_fraction(struct reader *in, const char *key,
                                           struct allocator_config *c, struct vrs_error *err)
{
    struct token token;
    double fraction = 0;
    TRY(read_real(in, key, &token, &fraction, err));
    if (fraction < 0 || fraction > 1)
        return vrs_fail(err, VRS_USAGE, "%s must be from 0 to 1, not %s", key, token.text);
    c->memory_fraction = fraction;
    return VRS_OK;
}

static enum vrs_status set_expandable(struct reader *in, const char *key,
                                      struct allocator_config *c, struct vrs_error *err)
{
    return read_boolean(in, key, &c->expandable, err);
}

/* Rounding. */

/* A list of intervals while it is read. */
struct intervals {
    struct rounding rounding;
    uint32_t last; /* entry of the last interval that was named; 0 before any */
    bool named;    /* any was */
};

static void fill(struct rounding *rounding, uint32_t begin, uint32_t end, uint64_t divisions)
{
    for (uint32_t i = begin; i < end; i++)
        rounding->divisions[i] = divisions;
}

static void set_rounding(struct allocator_config *c, const struct rounding *rounding)
{
    c->rounding = *rounding;
    c->rounding.divides = false;
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++)
        c->rounding.divides |= rounding->divisions[i] > 1;
}

/* The entry of an interval that begins at `mib`, a power of two; the last takes in all above. */
static uint32_t entry_of(uint64_t mib)
{
    uint32_t entry = 0;
    while (entry < ROUNDING_DIVISIONS - 1 && (mib >>= 1) != 0)
        entry++;
    return entry;
}

/* "256:1": the first interval of a list also speaks for all below it, a later one for itself.
 * ">:8" speaks for all above the last one named.  (Before about 2.9 PyTorch also overwrote that
 * one; recordings hold the table that came of it, so only a question is read by this rule.) */
static enum vrs_status read_interval(struct reader *in, const char *key, const struct token *name,
                                     struct intervals *list, struct vrs_error *err)
{
    uint64_t mib = 0, divisions = 0;
    bool above = strcmp(name->text, ">") == 0;
    if (!above && (!whole_number(name, &mib) || !power_of_two(mib)))
        return vrs_fail(err, VRS_USAGE, "an interval of %s must be a power of two or >, not %s",
                        key, name->text);
    TRY(read_colon(in, name->text, err));
    TRY(read_whole(in, key, &divisions, err));
    if (divisions != 0 && !power_of_two(divisions))
        return vrs_fail(err, VRS_USAGE, "a value of %s must be a power of two or 0, not %llu", key,
                        (unsigned long long)divisions);
    if (above) {
        fill(&list->rounding, list->last + 1, ROUNDING_DIVISIONS, divisions);
        return VRS_OK;
    }
    list->last = entry_of(mib);
    fill(&list->rounding, list->named ? list->last : 0, list->last + 1, divisions);
    list->named = true;
    return VRS_OK;
}

static enum vrs_status read_intervals(struct reader *in, const char *key, struct intervals *list,
                                      struct vrs_error *err)
{
    for (;;) {
        struct token token;
        read_token(in, &token);
        if (token.kind == ']')
            return VRS_OK;
        if (token.kind != TOKEN_WORD)
            break;
        TRY(read_interval(in, key, &token, list, err));
        read_token(in, &token);
        if (token.kind == ']')
            return VRS_OK;
        if (token.kind != ',')
            break;
    }
    return vrs_fail(err, VRS_USAGE, "the list of %s must be of the form [256:1,512:2,>:8]", key);
}

static enum vrs_status set_divisions(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    struct intervals list = { .last = 0 };
    struct token token;
    size_t begin = in->at;
    read_token(in, &token);
    if (token.kind == '[') {
        TRY(read_intervals(in, key, &list, err));
    } else {
        uint64_t divisions = 0;
        in->at = begin;
        TRY(read_whole(in, key, &divisions, err));
        /* PyTorch takes a 0 in lists only. */
        if (!power_of_two(divisions))
            return vrs_fail(err, VRS_USAGE, "%s must be a power of two (1 is none), not %llu", key,
                            (unsigned long long)divisions);
        fill(&list.rounding, 0, ROUNDING_DIVISIONS, divisions);
    }
    set_rounding(c, &list.rounding);
    return VRS_OK;
}

/* Keys that change nothing, and those of other allocators. */

static enum vrs_status check_backend(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    struct token token;
    (void)c;
    TRY(read_word(in, key, &token, err));
    if (strcmp(token.text, "native") == 0)
        return VRS_OK;
    if (strcmp(token.text, "cudaMallocAsync") == 0 || strcmp(token.text, "hipMallocAsync") == 0)
        return vrs_fail(err, VRS_USAGE,
                        "%s:%s is another allocator, which writes no snapshots and is not modelled",
                        key, token.text);
    return vrs_fail(err, VRS_USAGE, "%s must be native or cudaMallocAsync, not %s", key,
                    token.text);
}

static enum vrs_status check_boolean(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    bool ignored;
    (void)c;
    return read_boolean(in, key, &ignored, err);
}

static enum vrs_status check_whole(struct reader *in, const char *key, struct allocator_config *c,
                                   struct vrs_error *err)
{
    uint64_t ignored;
    (void)c;
    return read_whole(in, key, &ignored, err);
}

static enum vrs_status check_threads(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    uint64_t threads = 0;
    (void)c;
    TRY(read_whole(in, key, &threads, err));
    if (power_of_two(threads) && threads <= 128)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s must be a power of two up to 128, not %llu", key,
                    (unsigned long long)threads);
}

/* A share of the device, or a size as in 40G.  The model's reservations have no end. */
static enum vrs_status check_reserve(struct reader *in, const char *key, struct allocator_config *c,
                                     struct vrs_error *err)
{
    struct token token;
    double real;
    (void)c;
    TRY(read_word(in, key, &token, err));
    str number = str_from(token.text);
    if (strchr("KMGT", number.ptr[number.len - 1]) != NULL)
        number.len--;
    if (number_real(number, &real) && isfinite(real) && real > 0)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s must be a fraction or a size as in 40G, not %s", key,
                    token.text);
}

/* A word or a list; what may be in it is not known. */
static enum vrs_status check_any(struct reader *in, const char *key, struct allocator_config *c,
                                 struct vrs_error *err)
{
    struct token token;
    (void)c;
    read_token(in, &token);
    if (token.kind == TOKEN_WORD)
        return VRS_OK;
    if (token.kind != '[')
        return vrs_fail(err, VRS_USAGE, "%s has no value", key);
    do
        read_token(in, &token);
    while (token.kind == TOKEN_WORD || token.kind == ':' || token.kind == ',');
    if (token.kind == ']')
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "the list of %s is not closed", key);
}

static enum vrs_status refuse_foreign(struct reader *in, const char *key,
                                      struct allocator_config *c, struct vrs_error *err)
{
    (void)in;
    (void)c;
    return vrs_fail(err, VRS_USAGE, "%s belongs to another vendor's backend, which is not modelled",
                    key);
}

/* The keys. */

static const struct key {
    const char *name;
    read_value *read;
} keys[] = {
    { "max_split_size_mb", set_max_split },
    { "max_non_split_rounding_mb", set_non_split_rounding },
    { "roundup_power2_divisions", set_divisions },
    { "garbage_collection_threshold", set_gc_threshold },
    { "expandable_segments", set_expandable },
    { "large_segment_size_mb", set_large_segment },
    { "per_process_memory_fraction", set_memory_fraction },
    { "backend", check_backend },
    { "release_lock_on_cudamalloc", check_boolean },
    { "release_lock_on_hipmalloc", check_boolean },
    { "graph_capture_record_stream_reuse", check_boolean },
    { "throw_on_cudamalloc_oom", check_boolean },
    { "expandable_segments_reserve", check_reserve },
    { "expandable_segments_reserve_by_class", check_any },
    { "pinned_use_cuda_host_register", check_boolean },
    { "pinned_use_hip_host_register", check_boolean },
    { "pinned_num_register_threads", check_threads },
    { "pinned_use_background_threads", check_boolean },
    { "pinned_reserve_segment_size_mb", check_whole },
    { "pinned_max_round_threshold_mb", check_whole },
    { "pinned_max_cached_size_mb", check_whole },
    { "pinned_free_catch_all", check_any },
    { "page_size", refuse_foreign },
    { "segment_size_mb", refuse_foreign },
    { "base_addr_aligned_kb", refuse_foreign },
    { "multi_stream_lazy_reclaim", refuse_foreign },
};

enum { KEYS = sizeof keys / sizeof *keys };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, taken out or changed.  One row of the table is kept; both texts
 * are shorter than WORD_BYTES. */
static uint32_t edits(const char *a, const char *b)
{
    uint32_t cost[WORD_BYTES];
    uint32_t columns = (uint32_t)strlen(b);
    for (uint32_t j = 0; j <= columns; j++)
        cost[j] = j;
    for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
        uint32_t diagonal = cost[0];
        cost[0] = i;
        for (uint32_t j = 1; j <= columns; j++) {
            uint32_t above = cost[j];
            cost[j] = least(diagonal + (a[i - 1] != b[j - 1]), least(above, cost[j - 1]) + 1);
            diagonal = above;
        }
    }
    return cost[columns];
}

/* The key that was most likely meant; NULL where none is near. */
static const char *nearest_key(const char *text)
{
    const char *best = NULL;
    uint32_t distance = (uint32_t)strlen(text) / 3 + 2;
    for (uint32_t i = 0; i < KEYS; i++) {
        if (keys[i].read == refuse_foreign)
            continue;
        /* The beginning of a name is most likely that name, however much is missing. */
        bool begins = strncmp(keys[i].name, text, strlen(text)) == 0;
        uint32_t d = begins ? 0 : edits(text, keys[i].name);
        if (d < distance) {
            distance = d;
            best = keys[i].name;
        }
    }
    return best;
}

/* NULL where none stands here; the failure, VRS_USAGE, is then worded. */
static const struct key *read_key(struct reader *in, struct vrs_error *err)
{
    struct token token;
    read_token(in, &token);
    if (token.kind != TOKEN_WORD) {
        (void)vrs_fail(err, VRS_USAGE, "a setting must stand before \"%c\"", token.kind);
        return NULL;
    }
    for (uint32_t i = 0; i < KEYS; i++)
        if (strcmp(token.text, keys[i].name) == 0)
            return &keys[i];
    /* A file may be full of them; only a person wants to know what was meant. */
    const char *nearest = err == NULL ? NULL : nearest_key(token.text);
    if (nearest != NULL)
        (void)vrs_fail(err, VRS_USAGE, "there is no setting %s; the nearest is %s", token.text,
                       nearest);
    else
        (void)vrs_fail(err, VRS_USAGE,
                       "there is no setting %s; PyTorch's page on CUDA memory management has them",
                       token.text);
    return NULL;
}

/* Items. */

static bool more(struct reader *in)
{
    skip_blanks(in);
    return in->at < in->text.len;
}

/* The next item, with the comma after it. */
static enum vrs_status read_item(struct reader *in, struct allocator_config *c,
                                 struct vrs_error *err)
{
    struct allocator_config next = *c;
    const struct key *key = read_key(in, err);
    struct token token;
    if (key == NULL)
        return VRS_USAGE;
    if (key->read != refuse_foreign)
        TRY(read_colon(in, key->name, err));
    TRY(key->read(in, key->name, &next, err));
    read_token(in, &token);
    if (token.kind != ',' && token.kind != TOKEN_END)
        return vrs_fail(err, VRS_USAGE, "\",\" must follow the value of %s, not %s", key->name,
                        token.text);
    *c = next;
    return VRS_OK;
}

/* To the item after the one that begins here, whatever it is. */
static void skip_item(struct reader *in)
{
    bool listed = false;
    while (in->at < in->text.len) {
        char c = in->text.ptr[in->at++];
        if (c == ',' && !listed)
            return;
        listed = c == '[' || (listed && c != ']');
    }
}

/* A block too small for a segment of its own must remain splittable.  Asked of the whole string,
 * because the order of its items means nothing. */
static bool splits(const struct allocator_config *c)
{
    return c->max_split_bytes >= c->large_segment_bytes;
}

static enum vrs_status check_split(const struct allocator_config *old,
                                   const struct allocator_config *c, struct vrs_error *err)
{
    bool same = c->max_split_bytes == old->max_split_bytes &&
                c->large_segment_bytes == old->large_segment_bytes;
    /* What a recording came with was in force, whatever it is. */
    if (same || splits(c))
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "max_split_size_mb must be at least %llu%s, not %llu",
                    (unsigned long long)(c->large_segment_bytes / MIB),
                    c->large_segment_bytes == 20 * MIB ? "" : ", which is large_segment_size_mb",
                    (unsigned long long)(c->max_split_bytes / MIB));
}

enum vrs_status config_set(struct allocator_config *c, str text, struct vrs_error *err)
{
    struct reader in = { text, 0 };
    struct allocator_config next = *c;
    while (more(&in))
        TRY(read_item(&in, &next, err));
    TRY(check_split(c, &next, err));
    *c = next;
    return VRS_OK;
}

void config_take(struct allocator_config *c, str text)
{
    struct reader in = { text, 0 };
    struct allocator_config next = *c;
    while (more(&in)) {
        size_t begin = in.at;
        if (read_item(&in, &next, NULL) != VRS_OK) {
            in.at = begin;
            skip_item(&in);
        }
    }
    if (!splits(&next))
        next.max_split_bytes = c->max_split_bytes;
    *c = next;
}
