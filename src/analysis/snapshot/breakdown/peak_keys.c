/* peak_keys.c - finds the group of an allocation under each word. */
#include "analysis/snapshot/breakdown/peak_keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/attribution/module_path.h"
#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "base/arena.h"
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
    [BY_PATH] = "path",       [BY_LINE] = "line",
};

static uint64_t key_hash(const struct group_key *key)
{
    return hash_pair(hash_bytes(key->text.ptr, key->text.len),
                     key->number + ((uint64_t)key->kind << 56));
}

static struct frame frame_at(const struct peak_keys *g, frame_id frame)
{
    return frames_get(&g->r->code.frames, frame);
}

static enum vrs_status module_key_of(struct peak_keys *g, stack_id stack, struct group_key *ret,
                                     struct vrs_error *err)
{
    g->text.len = 0;
    TRY(module_path(&g->r->code, g->naming, stack, MODULE_LINES, g->scratch, &g->text, err));
    bool none = g->text.len == 0;
    *ret = (struct group_key){ none ? GROUP_UNNAMED : GROUP_TEXT, none, buf_slice(&g->text) };
    return VRS_OK;
}

uint32_t peak_age_class(int64_t at_event, int64_t born)
{
    if (born < 0)
        return 0;
    if (born > at_event)
        return PEAK_NOT_YET;
    uint32_t class = 1;
    for (uint64_t age = (uint64_t)(at_event - born); age != 0; age >>= 1)
        class ++;
    return class;
}

static enum vrs_status site_key_of(struct peak_keys *g, const struct live *live, str culprit,
                                   struct group_key *ret, struct vrs_error *err)
{
    uint32_t site = 0;
    if (!sites_of(&g->sites, live->stack, &site))
        return vrs_no_memory(err);
    if (live->stack.n == 0)
        *ret = (struct group_key){ GROUP_NO_SITE, live->bytes, S("") };
    else if (site == 0)
        *ret = (struct group_key){ GROUP_TEXT, 0, culprit };
    else
        *ret = (struct group_key){ GROUP_SITE, site, S("") };
    return VRS_OK;
}

static enum category category_of(const struct peak_keys *g, const struct live *live)
{
    const struct categories *c = g->categories;
    return c == NULL ? CATEGORY_UNKNOWN
                     : (enum category)c->of[live->allocation - g->first_allocation];
}

bool peak_is_by_line(enum peak_by by)
{
    return by == BY_CULPRIT || by == BY_LINE;
}

bool peak_splits(enum peak_by by)
{
    return peak_is_by_line(by) || by == BY_OWNER || by == BY_FILE || by == BY_FUNCTION ||
           by == BY_MODULE;
}

bool peak_is_by_name(enum peak_by by)
{
    return by == BY_NAME || by == BY_PATH;
}

/* What memory without a stack is for, where more than a guess tells. */
static enum category split_of(const struct peak_keys *g, const struct live *live)
{
    const struct categories *c = g->categories;
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

str peak_path_of_name(str name, uint8_t kind)
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

static struct group_key name_key_of(const struct peak_keys *g, const struct live *live)
{
    const struct named_tensors *n = &g->r->named;
    uint32_t row = named_find(g->r, live->allocation);
    if (row == NO_ROW)
        return (struct group_key){ GROUP_UNNAMED, 0, S("") };
    str name = strings_text(&g->r->code.strings, (string_id){ n->name[row] });
    if (is_blank(name))
        return (struct group_key){ GROUP_UNNAMED, g->by == BY_PATH, S("") };
    if (g->by == BY_NAME)
        return (struct group_key){ GROUP_STRING, n->name[row], S("") };
    str path = peak_path_of_name(name, n->kind[row]);
    return (struct group_key){ path.len == 0 ? GROUP_UNNAMED : GROUP_TEXT, path.len == 0, path };
}

static enum vrs_status key_of(struct peak_keys *g, const struct live *live,
                              const struct stack_names *names, struct group_key *ret,
                              struct vrs_error *err)
{
    bool nameless =
        live->stack.n == 0 || (g->by != BY_MODULE && str_equal(names->culprit, S("(no stack)")));
    if (nameless && peak_splits(g->by)) {
        *ret = (struct group_key){ GROUP_NO_STACK, split_of(g, live), S("") };
        return VRS_OK;
    }
    struct frame frame = frame_at(g, names->culprit_frame);
    *ret = (struct group_key){ GROUP_TEXT, 0, names->culprit };
    switch (g->by) {
    case BY_OWNER:
        ret->text = names->owner;
        break;
    case BY_SITE:
        return site_key_of(g, live, names->culprit, ret, err);
    case BY_FILE:
        if (names->culprit_frame.n != 0)
            *ret = (struct group_key){ GROUP_STRING, frame.file.n, S("") };
        break;
    case BY_FUNCTION:
        if (names->culprit_frame.n != 0)
            *ret = (struct group_key){ GROUP_STRING, frame.name.n, S("") };
        break;
    case BY_MODULE:
        return module_key_of(g, live->stack, ret, err);
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
        *ret = (struct group_key){ GROUP_AGE, peak_age_class(g->at_event, live->born),
                                   S("") };
        break;
    case BY_CATEGORY:
        *ret = (struct group_key){ GROUP_CATEGORY, category_of(g, live), S("") };
        break;
    case BY_NAME:
    case BY_PATH:
        *ret = name_key_of(g, live);
        break;
    case BY_CULPRIT:
    case BY_LINE:
    case PEAK_BYS:
        break;
    }
    return VRS_OK;
}

/* Known keys keep their place, so that equal ones are one group. */
static enum vrs_status place_of(struct peak_keys *g, struct group_key key, uint32_t *ret,
                                struct vrs_error *err)
{
    if (!idtab_reserve(&g->index))
        return vrs_no_memory(err);
    uint64_t hash = key_hash(&key);
    for (uint32_t at = idtab_first(&g->index, hash); g->index.slot[at].id != 0;
         at = idtab_next(&g->index, hash, at)) {
        const struct group_key *known = &g->keys.at[g->index.slot[at].id];
        if (known->kind == key.kind && known->number == key.number &&
            str_equal(known->text, key.text)) {
            *ret = g->index.slot[at].id;
            return VRS_OK;
        }
    }
    key.text = arena_copy(g->arena, key.text);
    if (key.text.ptr == NULL || !vec_push(&g->keys, key))
        return vrs_no_memory(err);
    *ret = g->keys.len - 1;
    idtab_put(&g->index, hash, *ret);
    return VRS_OK;
}

enum vrs_status peak_keys_of(struct peak_keys *g, const struct live *live,
                             const struct stack_names *names, uint32_t *ret, struct vrs_error *err)
{
    struct group_key key;
    TRY(key_of(g, live, names, &key, err));
    return place_of(g, key, ret, err);
}

static void put_pool_name(struct peak_keys *g, uint64_t pool)
{
    char name[POOL_NAME_MOST];
    memory_group_pool_name(g->r, (uint32_t)pool, name);
    buf_text(&g->text, name);
}

void peak_age_name(uint32_t age, char to[PEAK_AGE_NAME_MOST])
{
    uint64_t from = age < 2 ? 0 : (uint64_t)1 << (age - 2);
    if (age == 0 || age == PEAK_NOT_YET)
        snprintf(to, PEAK_AGE_NAME_MOST, "%s", age == 0 ? "older than the recording" : "not yet");
    else if (from < 2)
        snprintf(to, PEAK_AGE_NAME_MOST, "%s", from == 0 ? "0 events" : "1 event");
    else
        snprintf(to, PEAK_AGE_NAME_MOST, "%llu-%llu events", (unsigned long long)from,
                 (unsigned long long)(from * 2 - 1));
}

static void put_age_name(struct peak_keys *g, uint64_t age)
{
    char name[PEAK_AGE_NAME_MOST];
    peak_age_name((uint32_t)age, name);
    buf_text(&g->text, name);
}

enum vrs_status peak_keys_name(struct peak_keys *g, uint32_t at, stack_id stack, str *ret,
                               struct vrs_error *err)
{
    const struct group_key *key = &g->keys.at[at];
    struct stack_names names;
    g->text.len = 0;
    switch (key->kind) {
    case GROUP_TEXT:
        *ret = key->text;
        return VRS_OK;
    case GROUP_SITE:
        TRY(naming_of(g->naming, stack, &names, err));
        *ret = names.culprit;
        return VRS_OK;
    case GROUP_STRING:
        buf_str(&g->text, strings_text(&g->r->code.strings, (string_id){ (uint32_t)key->number }));
        break;
    case GROUP_UNNAMED:
        *ret = key->number == 0 ? S("(no name)") : S("(no module)");
        return VRS_OK;
    case GROUP_NO_SITE:
        buf_text(&g->text, "size:");
        buf_u64(&g->text, key->number);
        break;
    case GROUP_NO_STACK:
        buf_text(&g->text, "(no stack)");
        if (key->number != CATEGORY_UNKNOWN)
            buf_format(&g->text, " %s", category_names[key->number]);
        break;
    case GROUP_SIZE:
        buf_u64(&g->text, key->number);
        break;
    case GROUP_CATEGORY:
        buf_text(&g->text, category_names[key->number]);
        break;
    case GROUP_POOL:
        put_pool_name(g, key->number);
        break;
    case GROUP_STREAM:
        buf_u64(&g->text, g->r->streams.handle[key->number]);
        break;
    case GROUP_AGE:
        put_age_name(g, key->number);
        break;
    }
    *ret = g->text.failed ? (str){ NULL, 0 } : arena_copy(g->arena, buf_slice(&g->text));
    return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status begin(struct peak_keys *g, uint32_t device, struct vrs_error *err)
{
    TRY(segment_index_make(g->r, device, g->scratch, &g->segments, err));
    if (!vec_push(&g->keys, (struct group_key){ .number = 0 }) ||
        (g->by == BY_SITE && !sites_init(&g->sites, &g->r->code, g->naming, g->site, g->scratch)))
        return vrs_no_memory(err);
    return VRS_OK;
}

enum vrs_status peak_keys_begin(struct peak_keys *g, uint32_t device, struct vrs_error *err)
{
    g->first_allocation = g->r->devices.first_allocation[device];
    g->keys.max = UINT32_MAX;
    buf_init(&g->text, SIZE_MAX);
    return begin(g, device, err);
}

void peak_keys_end(struct peak_keys *g)
{
    sites_free(&g->sites);
    vec_free(&g->keys);
    idtab_free(&g->index);
    buf_free(&g->text);
}
