/* peak.c - groups a live set; rows and adjustment add up to the curve, whatever the file says. */
#include "analysis/snapshot/breakdown/peak.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/module_path.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak_owners.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/recording.h"
#include "model/strings.h"

const char *const peak_by_names[PEAK_BYS] = {
    [BY_CULPRIT] = "culprit", [BY_OWNER] = "owner",       [BY_SITE] = "site",
    [BY_FILE] = "file",       [BY_FUNCTION] = "function", [BY_MODULE] = "module",
    [BY_SIZE] = "size",       [BY_POOL] = "pool",         [BY_STREAM] = "stream",
    [BY_AGE] = "age",         [BY_CATEGORY] = "category", [BY_NAME] = "name",
    [BY_PATH] = "path",
};

/* What two allocations must share to be in one row: a number of some kind, or a text. */
enum group_kind {
    GROUP_TEXT,
    GROUP_SITE,     /* a reduced stack */
    GROUP_NO_SITE,  /* no stack at all: a size */
    GROUP_NO_STACK, /* the same: what it is for, unknown where nothing tells */
    GROUP_STRING,   /* a string of the recording */
    GROUP_UNNAMED,  /* memory without a name, 0, or with one that tells no module, 1 */
    GROUP_SIZE,
    GROUP_POOL,
    GROUP_STREAM,
    GROUP_CATEGORY,
    GROUP_AGE, /* 0: older than the recording, 1: none, n: at least 2^(n - 2) events */
};

struct group_key {
    enum group_kind kind;
    uint64_t number;
    str text;
};

struct group {
    struct group_key key;
    struct peak_row row;
    struct live biggest;            /* stands for the row */
    struct stack_names names;       /* of the first member */
    str category, confidence, rule; /* the same; ptr NULL: not known */
    bool culprits_differ, owners_differ, slack_unknown;
    bool categories_differ, confidences_differ, rules_differ;
    uint32_t members;
};

struct grouping {
    const struct recording *r;
    const struct peak_options *options;
    struct naming *naming;
    struct arena *arena; /* of the result */
    struct vrs_error *err;
    struct arena scratch;
    struct segment_index segments;
    uint32_t first_allocation; /* of the device */
    struct sites sites;
    struct buf text;
    VEC(struct group) groups; /* group 0 is none, as in idtab */
    struct idtab index;
};

static uint64_t key_hash(const struct group_key *key)
{
    return hash_pair(hash_bytes(key->text.ptr, key->text.len),
                     key->number + ((uint64_t)key->kind << 56));
}

static struct frame frame_at(const struct grouping *g, frame_id frame)
{
    return frames_get(&g->r->code.frames, frame);
}

static enum vrs_status module_of(struct grouping *g, stack_id stack, str *ret)
{
    g->text.len = 0;
    TRY(module_path(&g->r->code, g->naming, stack, MODULE_LINES, &g->scratch, &g->text, g->err));
    *ret = g->text.len == 0 ? S("(no module)") : buf_slice(&g->text);
    return VRS_OK;
}

static uint64_t age_class(int64_t at_event, int64_t born)
{
    if (born < 0)
        return 0;
    uint64_t age = (uint64_t)(at_event - born), class = 1;
    for (; age != 0; age >>= 1)
        class ++;
    return class;
}

static enum vrs_status site_key_of(struct grouping *g, const struct live *live, str culprit,
                                   struct group_key *ret)
{
    uint32_t site = 0;
    if (!sites_of(&g->sites, live->stack, &site))
        return vrs_no_memory(g->err);
    if (live->stack.n == 0)
        *ret = (struct group_key){ GROUP_NO_SITE, live->bytes, S("") };
    else if (site == 0)
        *ret = (struct group_key){ GROUP_TEXT, 0, culprit };
    else
        *ret = (struct group_key){ GROUP_SITE, site, S("") };
    return VRS_OK;
}

static enum category category_of(const struct grouping *g, const struct live *live)
{
    const struct categories *c = g->options->categories;
    return c == NULL ? CATEGORY_UNKNOWN
                     : (enum category)c->of[live->allocation - g->first_allocation];
}

bool peak_splits(enum peak_by by)
{
    return by == BY_CULPRIT || by == BY_OWNER || by == BY_FILE || by == BY_FUNCTION ||
           by == BY_MODULE;
}

bool peak_is_by_name(enum peak_by by)
{
    return by == BY_NAME || by == BY_PATH;
}

/* What memory without a stack is for, where more than a guess tells. */
static enum category split_of(const struct grouping *g, const struct live *live)
{
    const struct categories *c = g->options->categories;
    enum category category = category_of(g, live);
    if (c == NULL || category == CATEGORY_PERSISTENT)
        return CATEGORY_UNKNOWN;
    uint8_t sure = c->confidence[live->allocation - g->first_allocation];
    return sure == CONFIDENCE_HIGH || sure == CONFIDENCE_MEDIUM ? category : CATEGORY_UNKNOWN;
}

static bool is_blank(str text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text.len == 0;
}

/* Where the bracket that opens at `at` is closed; a quote within it, as in cache['a].b'], may hold
 * brackets of its own.  `text.len` where nothing closes it. */
static size_t bracket_end(str text, size_t at)
{
    char quote = '\0';
    for (size_t i = at + 1; i < text.len; i++) {
        char c = text.ptr[i];
        if (quote == '\0' && c == ']')
            return i;
        if (c == '\\' && quote != '\0')
            i++;
        else if (quote == '\0' && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = '\0';
    }
    return text.len;
}

/* The place of the last dot that stands in no brackets; `text.len` where there is none. */
static size_t last_dot(str text)
{
    size_t found = text.len;
    bool brackets = true; /* a bracket that nothing closes is text, and so are those after it */
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.')
            found = i;
        if (text.ptr[i] != '[' || !brackets)
            continue;
        size_t end = bracket_end(text, i);
        brackets = end < text.len;
        if (brackets)
            i = end;
    }
    return found;
}

/* The module in a name with dots: what it is of without its last part, nothing where only blanks are
 * left; of "exp_avg of model.weight" and of "model.weight.grad" that of "model.weight". */
static str path_of_name(str name, uint8_t kind)
{
    size_t of = str_find(name, S(" of "));
    if (kind == NAMED_OPTIMIZER_STATE && of < name.len)
        name = (str){ name.ptr + of + 4, name.len - of - 4 };
    str grad = S(".grad");
    if (kind == NAMED_GRADIENT && name.len > grad.len &&
        str_equal((str){ name.ptr + name.len - grad.len, grad.len }, grad))
        name.len -= grad.len;
    size_t dot = last_dot(name);
    str path = { name.ptr, dot < name.len ? dot : 0 };
    return is_blank(path) ? S("") : path;
}

static struct group_key name_key_of(const struct grouping *g, const struct live *live)
{
    const struct named_tensors *n = &g->r->named;
    uint32_t row = named_find(g->r, live->allocation);
    if (row == NO_ROW)
        return (struct group_key){ GROUP_UNNAMED, 0, S("") };
    str name = strings_text(&g->r->code.strings, (string_id){ n->name[row] });
    if (is_blank(name))
        return (struct group_key){ GROUP_UNNAMED, g->options->by == BY_PATH, S("") };
    if (g->options->by == BY_NAME)
        return (struct group_key){ GROUP_STRING, n->name[row], S("") };
    str path = path_of_name(name, n->kind[row]);
    return (struct group_key){ path.len == 0 ? GROUP_UNNAMED : GROUP_TEXT, path.len == 0, path };
}

static enum vrs_status key_of(struct grouping *g, const struct live *live,
                              const struct stack_names *names, struct group_key *ret)
{
    bool nameless = live->stack.n == 0 ||
                    (g->options->by != BY_MODULE && str_equal(names->culprit, S("(no stack)")));
    if (nameless && peak_splits(g->options->by)) {
        *ret = (struct group_key){ GROUP_NO_STACK, split_of(g, live), S("") };
        return VRS_OK;
    }
    struct frame frame = frame_at(g, names->culprit_frame);
    *ret = (struct group_key){ GROUP_TEXT, 0, names->culprit };
    switch (g->options->by) {
    case BY_OWNER:
        ret->text = names->owner;
        break;
    case BY_SITE:
        return site_key_of(g, live, names->culprit, ret);
    case BY_FILE:
        if (names->culprit_frame.n != 0)
            *ret = (struct group_key){ GROUP_STRING, frame.file.n, S("") };
        break;
    case BY_FUNCTION:
        if (names->culprit_frame.n != 0)
            *ret = (struct group_key){ GROUP_STRING, frame.name.n, S("") };
        break;
    case BY_MODULE:
        return module_of(g, live->stack, &ret->text);
    case BY_SIZE:
        *ret = (struct group_key){ GROUP_SIZE, live->bytes, S("") };
        break;
    case BY_POOL:
        *ret = (struct group_key){ GROUP_POOL,
                                   allocation_pool(g->r, &g->segments, live->allocation).n, S("") };
        break;
    case BY_STREAM:
        *ret = (struct group_key){ GROUP_STREAM, allocation_stream(g->r, live->allocation), S("") };
        break;
    case BY_AGE:
        *ret = (struct group_key){ GROUP_AGE, age_class(g->options->at_event, live->born), S("") };
        break;
    case BY_CATEGORY:
        *ret = (struct group_key){ GROUP_CATEGORY, category_of(g, live), S("") };
        break;
    case BY_NAME:
    case BY_PATH:
        *ret = name_key_of(g, live);
        break;
    case BY_CULPRIT:
    case PEAK_BYS:
        break;
    }
    return VRS_OK;
}

static enum vrs_status find_group(struct grouping *g, struct group_key key,
                                  const struct stack_names *names, uint32_t *ret)
{
    if (!idtab_reserve(&g->index))
        return vrs_no_memory(g->err);
    uint64_t hash = key_hash(&key);
    for (uint32_t at = idtab_first(&g->index, hash); g->index.slot[at].id != 0;
         at = idtab_next(&g->index, hash, at)) {
        const struct group_key *known = &g->groups.at[g->index.slot[at].id].key;
        if (known->kind == key.kind && known->number == key.number &&
            str_equal(known->text, key.text)) {
            *ret = g->index.slot[at].id;
            return VRS_OK;
        }
    }
    key.text = arena_copy(g->arena, key.text);
    if (key.text.ptr == NULL || !vec_reserve(&g->groups, 1))
        return vrs_no_memory(g->err);
    *ret = g->groups.len++;
    g->groups.at[*ret] = (struct group){ .key = key, .names = *names };
    idtab_put(&g->index, hash, *ret);
    return VRS_OK;
}

/* Larger first, then earlier, then the order of the allocations. */
static bool stands_before(const struct live *a, const struct live *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    return a->born != b->born ? a->born < b->born : a->allocation < b->allocation;
}

/* Category, confidence and rule, where all members have the same. */
static void add_category(const struct grouping *g, struct group *group, const struct live *live)
{
    const struct categories *c = g->options->categories;
    if (c == NULL)
        return;
    uint32_t i = live->allocation - g->first_allocation;
    str none = { NULL, 0 };
    str category = str_from(category_names[c->of[i]]), rule = str_from(c->rule_names[c->rule[i]]);
    str confidence =
        c->confidence[i] == CONFIDENCE_NONE ? none : str_from(confidence_names[c->confidence[i]]);
    if (group->members == 0) {
        group->category = category;
        group->confidence = confidence;
        group->rule = rule;
    }
    group->categories_differ |= !str_equal(category, group->category);
    group->confidences_differ |= !str_equal(confidence, group->confidence);
    group->rules_differ |= !str_equal(rule, group->rule);
}

static void add_member(struct grouping *g, struct group *group, const struct live *live,
                       const struct stack_names *names)
{
    struct peak_row *row = &group->row;
    struct block_size block = { 0, SOURCE_ROUNDED };
    if (g->options->sizes != NULL)
        block = block_of(g->options->sizes, live->allocation);
    if (group->members == 0 || live->born < row->oldest_event)
        row->oldest_event = live->born;
    if (group->members == 0 || stands_before(live, &group->biggest))
        group->biggest = *live;
    add_category(g, group, live);
    group->members++;
    row->bytes += live->bytes;
    row->slack_bytes += block.bytes - live->bytes;
    group->slack_unknown |= block.source == SOURCE_ROUNDED || block.bytes < live->bytes;
    group->culprits_differ |= !str_equal(names->culprit, group->names.culprit);
    group->owners_differ |= !str_equal(names->owner, group->names.owner);
}

static enum vrs_status group_all(struct grouping *g, const struct live_set *set)
{
    for (uint32_t i = 0; i < set->len; i++) {
        struct live *live = &set->at[i];
        struct stack_names names;
        struct group_key key;
        TRY(naming_of(g->naming, live->stack, &names, g->err));
        TRY(key_of(g, live, &names, &key));
        TRY(find_group(g, key, &names, &live->group));
        add_member(g, &g->groups.at[live->group], live, &names);
    }
    return VRS_OK;
}

static int by_group_and_birth(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

/* Half of the traced members are younger than this; of an even number, the mean of the two in the
 * middle.  Members are sorted by birth, the untraced ones first. */
static double median_age(const struct live *member, uint32_t members, int64_t at_event)
{
    uint32_t old = 0;
    while (old < members && member[old].born < 0)
        old++;
    uint32_t traced = members - old;
    if (traced == 0)
        return -1;
    int64_t low = member[old + (traced - 1) / 2].born, high = member[old + traced / 2].born;
    return (double)(at_event - low + at_event - high) / 2;
}

static void put_pool_name(struct grouping *g, uint64_t pool)
{
    char name[POOL_NAME_MOST];
    memory_group_pool_name(g->r, (uint32_t)pool, name);
    buf_text(&g->text, name);
}

static void age_name(struct grouping *g, uint64_t class)
{
    uint64_t from = class < 2 ? 0 : (uint64_t)1 << (class - 2);
    if (class == 0)
        buf_text(&g->text, "older than the recording");
    else if (from < 2)
        buf_text(&g->text, from == 0 ? "0 events" : "1 event");
    else
        buf_format(&g->text, "%llu-%llu events", (unsigned long long)from,
                   (unsigned long long)(from * 2 - 1));
}

static enum vrs_status name_row(struct grouping *g, const struct group *group, str *ret)
{
    struct stack_names names;
    g->text.len = 0;
    switch (group->key.kind) {
    case GROUP_TEXT:
        *ret = group->key.text;
        return VRS_OK;
    case GROUP_SITE:
        TRY(naming_of(g->naming, group->biggest.stack, &names, g->err));
        *ret = names.culprit;
        return VRS_OK;
    case GROUP_STRING:
        buf_str(&g->text,
                strings_text(&g->r->code.strings, (string_id){ (uint32_t)group->key.number }));
        break;
    case GROUP_UNNAMED:
        *ret = group->key.number == 0 ? S("(no name)") : S("(no module)");
        return VRS_OK;
    case GROUP_NO_SITE:
        buf_text(&g->text, "size:");
        buf_u64(&g->text, group->key.number);
        break;
    case GROUP_NO_STACK:
        buf_text(&g->text, "(no stack)");
        if (group->key.number != CATEGORY_UNKNOWN)
            buf_format(&g->text, " %s", category_names[group->key.number]);
        break;
    case GROUP_SIZE:
        buf_u64(&g->text, group->key.number);
        break;
    case GROUP_CATEGORY:
        buf_text(&g->text, category_names[group->key.number]);
        break;
    case GROUP_POOL:
        put_pool_name(g, group->key.number);
        break;
    case GROUP_STREAM:
        buf_u64(&g->text, g->r->streams.handle[group->key.number]);
        break;
    case GROUP_AGE:
        age_name(g, group->key.number);
        break;
    }
    *ret = g->text.failed ? (str){ NULL, 0 } : arena_copy(g->arena, buf_slice(&g->text));
    return ret->ptr == NULL ? vrs_no_memory(g->err) : VRS_OK;
}

static int by_bytes(const void *a, const void *b)
{
    const struct peak_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->oldest_event != y->oldest_event)
        return x->oldest_event < y->oldest_event ? -1 : 1;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->stack.n > y->stack.n) - (x->stack.n < y->stack.n);
}

static int by_larger(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Puts a size among the heaviest, which stand by larger bytes in all, then by larger size. */
static void keep_heaviest(struct peak_row *row, struct size_count size)
{
    uint32_t at = row->sizes;
    while (at > 0 && row->size[at - 1].bytes * row->size[at - 1].count < size.bytes * size.count)
        at--;
    if (at == PEAK_SIZES)
        return;
    if (row->sizes < PEAK_SIZES)
        row->sizes++;
    for (uint32_t i = row->sizes - 1; i > at; i--)
        row->size[i] = row->size[i - 1];
    row->size[at] = size;
}

/* The sizes of what neither a stack nor a category tells apart. */
static enum vrs_status add_sizes(struct grouping *g, const struct live *member, uint32_t members,
                                 struct peak_row *row)
{
    struct arena_mark mark = arena_mark(&g->scratch);
    uint64_t *bytes = arena_array(&g->scratch, uint64_t, members);
    row->size = arena_array(g->arena, struct size_count, PEAK_SIZES);
    if (bytes == NULL || row->size == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < members; i++)
        bytes[i] = member[i].bytes;
    if (members > 1)
        qsort(bytes, members, sizeof *bytes, by_larger);
    for (uint32_t i = 0, end; i < members; i = end) {
        for (end = i + 1; end < members && bytes[end] == bytes[i];)
            end++;
        keep_heaviest(row, (struct size_count){ bytes[i], end - i });
        row->distinct_sizes++;
    }
    arena_release(&g->scratch, mark);
    return VRS_OK;
}

static int by_stack(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->stack.n != y->stack.n)
        return x->stack.n < y->stack.n ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

/* The stack that is shown for a row: that with most of its bytes. */
static enum vrs_status find_stack(struct grouping *g, const struct live *member, uint32_t members,
                                  struct peak_row *row)
{
    struct arena_mark mark = arena_mark(&g->scratch);
    struct live *at = arena_array(&g->scratch, struct live, members);
    const struct live *first = NULL;
    if (at == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < members; i++)
        at[i] = member[i];
    if (members > 1)
        qsort(at, members, sizeof *at, by_stack);
    for (uint32_t i = 0, end; i < members; i = end) {
        uint64_t bytes = 0;
        for (end = i; end < members && at[end].stack.n == at[i].stack.n; end++)
            bytes += at[end].bytes;
        row->distinct_stacks++;
        bool more = first == NULL || bytes > row->stack_bytes ||
                    (bytes == row->stack_bytes && at[i].born < first->born);
        if (!more)
            continue;
        first = &at[i];
        row->stack = first->stack;
        row->stack_bytes = bytes;
    }
    arena_release(&g->scratch, mark);
    return VRS_OK;
}

static enum vrs_status find_names(struct grouping *g, const struct live *member, uint32_t members,
                                  struct held_names *ret)
{
    struct names_sum sum = { .r = g->r };
    for (uint32_t i = 0; i < members && g->r->named.rows.len > 0; i++)
        names_sum_add(&sum, member[i].allocation);
    return names_sum_end(&sum, g->arena, ret, g->err);
}

static enum vrs_status make_rows(struct grouping *g, const struct live_set *set, struct peak *ret)
{
    ret->rows = g->groups.len - 1;
    ret->row = arena_array(g->arena, struct peak_row, ret->rows);
    if (ret->row == NULL)
        return vrs_no_memory(g->err);
    if (set->len > 1)
        qsort(set->at, set->len, sizeof *set->at, by_group_and_birth);
    uint32_t member = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ret->rows; i++) {
        struct group *group = &g->groups.at[i + 1];
        struct peak_row *row = &ret->row[i];
        *row = group->row;
        TRY(name_row(g, group, &row->name));
        row->named = peak_is_by_name(g->options->by) && group->key.kind != GROUP_UNNAMED;
        if (group->key.kind == GROUP_NO_STACK && group->key.number == CATEGORY_UNKNOWN)
            TRY(add_sizes(g, set->at + member, group->members, row));
        if (g->options->by == BY_CULPRIT && group->owners_differ)
            TRY(peak_owners_find(g->naming, set->at + member, group->members, g->arena, &g->scratch,
                                 row, g->err));
        row->count = group->members;
        row->share_ratio = set->bytes == 0 ? 0 : (double)row->bytes / (double)set->bytes;
        row->largest_bytes = group->biggest.bytes;
        TRY(find_stack(g, set->at + member, group->members, row));
        TRY(find_names(g, set->at + member, group->members, &row->names));
        row->median_age_events = median_age(set->at + member, group->members, g->options->at_event);
        row->slack_bytes = group->slack_unknown ? UNKNOWN_U64 : row->slack_bytes;
        row->culprit = group->culprits_differ ? (str){ NULL, 0 } : group->names.culprit;
        row->owner = group->owners_differ ? (str){ NULL, 0 } : group->names.owner;
        row->category = group->categories_differ ? (str){ NULL, 0 } : group->category;
        row->confidence = group->confidences_differ ? (str){ NULL, 0 } : group->confidence;
        row->rule = group->rules_differ ? (str){ NULL, 0 } : group->rule;
        member += group->members;
        sum += row->bytes;
    }
    assert(sum == set->bytes);
    (void)sum;
    if (ret->rows > 1)
        qsort(ret->row, ret->rows, sizeof *ret->row, by_bytes);
    return VRS_OK;
}

static enum vrs_status compute(struct grouping *g, uint32_t device, struct peak *ret)
{
    struct live_set set;
    int64_t at = g->options->at_event;
    TRY(live_at(g->r, device, at, &g->scratch, &set, g->err));
    TRY(segment_index_make(g->r, device, &g->scratch, &g->segments, g->err));
    if (!vec_push(&g->groups, (struct group){ .members = 0 }) ||
        (g->options->by == BY_SITE &&
         !sites_init(&g->sites, &g->r->code, g->naming, g->options->key, &g->scratch)))
        return vrs_no_memory(g->err);
    enum vrs_status status = group_all(g, &set);
    sites_free(&g->sites);
    TRY(status);

    int64_t total = curve_at(g->r, device, CURVE_REQUESTED, at);
    struct peak peak = {
        .by = g->options->by,
        .key = g->options->key,
        .at_event = at,
        .total_bytes = total,
        .adjust_bytes = (int64_t)((uint64_t)total - set.bytes),
        .live_bytes = set.bytes,
        .live_count = set.len,
    };
    TRY(find_names(g, set.at, set.len, &peak.names));
    TRY(make_rows(g, &set, &peak));
    *ret = peak;
    return VRS_OK;
}

enum vrs_status peak_compute(const struct recording *r, uint32_t device,
                             const struct peak_options *options, struct naming *naming,
                             struct arena *arena, struct peak *ret, struct vrs_error *err)
{
    struct peak_options asked = *options;
    if (!device_traced(r, device))
        asked.at_event = (int64_t)r->devices.events[device] - 1;
    struct grouping g = {
        .r = r,
        .options = &asked,
        .naming = naming,
        .arena = arena,
        .first_allocation = r->devices.first_allocation[device],
        .err = err,
        .groups.max = UINT32_MAX,
    };
    arena_init(&g.scratch, SIZE_MAX);
    buf_init(&g.text, SIZE_MAX);
    enum vrs_status status = compute(&g, device, ret);
    vec_free(&g.groups);
    idtab_free(&g.index);
    buf_free(&g.text);
    arena_free(&g.scratch);
    return status;
}
