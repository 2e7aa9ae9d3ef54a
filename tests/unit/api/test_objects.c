/* test_objects.c - sizes of models and storages under tensors, from lists to texts, with every
 * allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/fault.h"
#include "vramscope/error.h"
#include "vramscope/objects.h"
#include "vramscope/vramscope.h"

enum { TEXT_MOST = 16384 };

struct text {
    char at[TEXT_MOST];
    size_t len;
};

static bool put(void *arg, const char *bytes, size_t len)
{
    struct text *t = arg;
    if (len >= TEXT_MOST - t->len)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return true;
}

static enum vrs_status write_as(const struct vrs_result *result, enum vrs_format format,
                                uint32_t width, struct text *to)
{
    struct vrs_write_options options = {
        .size = sizeof options, .format = format, .width = width, .ascii = true
    };
    struct vrs_sink sink = { put, to };
    return vrs_write(result, &options, &sink, NULL);
}

/* What is asked, and all that is written of the answer. */
struct asking {
    const struct vrs_module *module;
    const struct vrs_tensor *tensor;
    const struct vrs_device_bytes *device;
    uint32_t modules, tensors, devices;
    struct vrs_model_options options;
    struct text text;
};

static enum vrs_status write_all(struct vrs_result *result, struct text *to)
{
    static const enum vrs_format formats[] = { VRS_TEXT, VRS_JSON, VRS_CSV };
    enum vrs_status status = VRS_OK;
    to->len = 0;
    for (size_t i = 0; status == VRS_OK && i < sizeof formats / sizeof *formats; i++)
        status = write_as(result, formats[i], 200, to);
    vrs_result_free(result);
    return status;
}

static enum vrs_status ask_model(void *arg)
{
    struct asking *a = arg;
    struct vrs_result *result;
    enum vrs_status status =
        vrs_model_size(a->module, a->modules, a->tensor, a->tensors, &a->options, &result, NULL);
    return status == VRS_OK ? write_all(result, &a->text) : status;
}

static enum vrs_status ask_tensors(void *arg)
{
    struct asking *a = arg;
    struct vrs_result *result;
    enum vrs_status status =
        vrs_tensors(a->tensor, a->tensors, a->device, a->devices, &result, NULL);
    return status == VRS_OK ? write_all(result, &a->text) : status;
}

static const char *said(struct asking *a, enum vrs_status (*ask)(void *arg))
{
    a->options.size = sizeof a->options;
    assert_int_equal(ask(a), VRS_OK);
    return a->text.at;
}

#define SAYS(text, part) assert_non_null(strstr(text, part))

/* The root owns a buffer; "a" and "b" have one weight; "c" is a half of what "c.d" stands on. */
static const struct vrs_module modules[] = {
    { "", "Model" }, { "a", "Linear" }, { "b", "Linear" }, { "c", "Block" }, { "c.d", "Linear" },
};
#define OF(owner, name, kind) (owner), (name), "(2, 3)", "float32", "cpu", (kind)
static const struct vrs_tensor tensors[] = {
    { OF(0, "mask", VRS_BUFFER), false, 6, 6, 6, 100, 8, 0 },
    { OF(1, "a.weight", VRS_PARAMETER), true, 1000, 4000, 4000, 200, 4000, 0 },
    { OF(1, "a.bias", VRS_PARAMETER), false, 10, 40, 40, 300, 40, 0 },
    { OF(2, "b.weight", VRS_PARAMETER), true, 1000, 4000, 4000, 200, 4000, 0 },
    { OF(3, "c.first", VRS_PARAMETER), true, 25, 100, 400, 400, 200, 0 },
    { OF(4, "c.d.rest", VRS_PARAMETER), true, 25, 100, 100, 400, 200, 100 },
};
#define MODEL                                                                                      \
    {                                                                                              \
        .module = modules, .modules = sizeof modules / sizeof *modules, .tensor = tensors,         \
        .tensors = sizeof tensors / sizeof *tensors                                                \
    }

static void rows_add_up_and_a_storage_counts_once(void **state)
{
    struct asking a = MODEL;
    (void)state;
    const char *text = said(&a, ask_model);
    SAYS(text,
         "Model: 1,060 parameters, 1,050 of them trainable; parameters 4.14 KiB, buffers 6 B; "
         "in storages 4.15 KiB; all shards 4.44 KiB");
    SAYS(text, "\"total\": { \"parameters\": 1060, \"trainable\": 1050, \"parameter_bytes\": 4240, "
               "\"buffer_bytes\": 6, \"storage_bytes\": 4248, \"full_bytes\": 4546 }");
    SAYS(text, "{ \"path\": \"b\", \"type\": \"Linear\", \"own\": false, \"modules\": 1, "
               "\"parameters\": 0, \"trainable\": 0, \"parameter_bytes\": 0, \"buffer_bytes\": 0, "
               "\"storage_bytes\": 0, \"full_bytes\": 0, \"all_bytes\": 0, "
               "\"shared_with\": [\"a.weight\"], \"calls\": null, \"output_bytes\": null }");
    SAYS(text, "\"path\": \"c\", \"type\": \"Block\", \"own\": true, \"modules\": 1, "
               "\"parameters\": 25, \"trainable\": 25, \"parameter_bytes\": 100, "
               "\"buffer_bytes\": 0, \"storage_bytes\": 200, \"full_bytes\": 400, "
               "\"all_bytes\": 200, \"shared_with\": []");
    SAYS(text, "\"parameters\": 25, \"trainable\": 25, \"parameter_bytes\": 100, "
               "\"buffer_bytes\": 0, \"storage_bytes\": 0, \"full_bytes\": 100, \"all_bytes\": 0, "
               "\"shared_with\": [\"c.first\"]");
    SAYS(text, "c (own)");
    SAYS(text, "\nb,Linear,false,1,0,0,0,0,0,0,0,a.weight,,\r\n");
}

static void what_is_too_far_inside_is_in_the_row_around_it(void **state)
{
    struct asking a = MODEL;
    (void)state;
    a.options.depth = 1 + 1;
    const char *text = said(&a, ask_model);
    SAYS(text, "\"path\": \"c\", \"type\": \"Block\", \"own\": false, \"modules\": 2, "
               "\"parameters\": 50");
    assert_null(strstr(text, "\"c.d\""));
    SAYS(text, "c (2 modules)");
    a.options.depth = 1;
    SAYS(said(&a, ask_model), "\"path\": \"\", \"type\": \"Model\", \"own\": false, "
                              "\"modules\": 5, \"parameters\": 1060");
}

static void lazy_tensors_make_the_total_a_lower_bound(void **state)
{
    static const struct vrs_tensor lazy[] = {
        { OF(1, "a.weight", VRS_PARAMETER), true, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, UINT64_MAX,
          0 },
        { OF(2, "b.weight", VRS_PARAMETER), true, 10, 40, 40, 2, 40, 0 },
    };
    struct asking a = MODEL;
    (void)state;
    a.tensor = lazy;
    a.tensors = 2;
    const char *text = said(&a, ask_model);
    SAYS(text, "Model: at least 10 parameters");
    SAYS(text, "\"at_least\": true");
    SAYS(text, "\"path\": \"a\", \"type\": \"Linear\", \"own\": false, \"modules\": 1, "
               "\"parameters\": null, \"trainable\": null, \"parameter_bytes\": null, "
               "\"buffer_bytes\": 0, \"storage_bytes\": null, \"full_bytes\": null, "
               "\"all_bytes\": null");
    SAYS(text, "\"path\": \"\", \"type\": \"Model\", \"own\": true, \"modules\": 1, "
               "\"parameters\": 0");
}

static void outputs_are_those_of_all_calls(void **state)
{
    static const struct vrs_output outputs[] = {
        { 1, 0, 100 }, { 1, 0, 20 }, { 1, 1, 3 }, { 4, 2, 7 }, { 2, 3, UINT64_MAX }, { 0, 4, 50 },
    };
    struct asking a = MODEL;
    (void)state;
    a.options.output = outputs;
    a.options.outputs = sizeof outputs / sizeof *outputs;
    const char *text = said(&a, ask_model);
    SAYS(text, "\"shared_with\": [], \"calls\": 2, \"output_bytes\": 123 }");
    SAYS(text, "\"shared_with\": [\"a.weight\"], \"calls\": 1, \"output_bytes\": null }");
    SAYS(text, "\"calls\": 0, \"output_bytes\": null }"); /* of c */
    /* What a module returns that has no row of its own is of no row. */
    a.options.depth = 1 + 1;
    assert_null(strstr(said(&a, ask_model), "\"output_bytes\": 7"));
}

static void a_module_that_is_not_there_is_refused(void **state)
{
    static const struct vrs_output output = { 5, 0, 1 };
    struct vrs_model_options options = { sizeof options, 0, &output, 1 };
    struct vrs_tensor stray = tensors[0];
    struct vrs_result *result = NULL;
    struct vrs_error err;
    (void)state;
    stray.owner = 5;
    assert_int_equal(vrs_model_size(modules, 5, &stray, 1, NULL, &result, &err), VRS_USAGE);
    assert_string_equal(err.message, "tensor 0 is of module 5, and there are 5");
    assert_int_equal(vrs_model_size(modules, 5, tensors, 0, &options, &result, &err), VRS_USAGE);
    assert_string_equal(err.message, "output 0 is of module 5, and there are 5");
    stray.kind = (enum vrs_tensor_kind)9;
    assert_int_equal(vrs_tensors(&stray, 1, NULL, 0, &result, &err), VRS_USAGE);
    assert_null(result);
}

static const struct vrs_tensor known[] = {
    { OF(0, "", VRS_OTHER_TENSOR), false, 0, 0, 0, 1, 400, 0 },
    { OF(0, "w", VRS_PARAMETER), true, 0, 0, 0, 1, 400, 0 },
    { OF(0, "v", VRS_OTHER_TENSOR), false, 0, 0, 0, 1, 400, 0 },
    { OF(0, "w.grad", VRS_GRADIENT), false, 0, 0, 0, 2, 400, 0 },
    { OF(0, "big", VRS_BUFFER), false, 0, 0, 0, 3, 4096, 0 },
    { OF(0, "opaque", VRS_OTHER_TENSOR), false, 0, 0, 0, 4, UINT64_MAX, 0 },
    { 0, "gpu", "()", "int8", "cuda:0", VRS_OPTIMIZER_STATE, false, 0, 0, 0, 5, 512, 0 },
};
#define TABLE                                                                                      \
    {                                                                                              \
        .tensor = known, .tensors = sizeof known / sizeof *known                                   \
    }

static void storages_have_one_row_each(void **state)
{
    struct asking a = TABLE;
    (void)state;
    const char *text = said(&a, ask_tensors);
    const char *first = strstr(text, "\"rows\": ["), *big = strstr(first, "4096");
    SAYS(text, "{ \"bytes\": 400, \"count\": 3, \"kind\": \"parameter\", \"name\": \"w\", "
               "\"shape\": \"(2, 3)\", \"dtype\": \"float32\", \"device\": \"cpu\", "
               "\"shared_by\": [\"v\"] }");
    SAYS(text, "{ \"bytes\": null, \"count\": 1, \"kind\": \"other\", \"name\": \"opaque\"");
    SAYS(text, "\"device\": \"cpu\", \"storages\": 4, \"unknown\": 1, \"bytes\": 4896, "
               "\"invisible_bytes\": null, \"rounding_bytes\": null, \"allocated_bytes\": null");
    assert_true(big != NULL && big < strstr(first, "\"gpu\"") &&
                strstr(first, "\"gpu\"") < strstr(first, "\"w\"") &&
                strstr(first, "\"w\"") < strstr(first, "\"w.grad\"") &&
                strstr(first, "\"w.grad\"") < strstr(first, "\"opaque\""));
    SAYS(text, "v and 1 more");
}

static void what_no_tensor_has_is_the_rest(void **state)
{
    static const struct vrs_device_bytes devices[] = {
        { "cuda:0", 2048, 1500 },
        { "cuda:1", 1024, UINT64_MAX },
    };
    struct asking a = TABLE;
    (void)state;
    a.device = devices;
    a.devices = 2;
    const char *text = said(&a, ask_tensors);
    SAYS(text, "\"device\": \"cuda:0\", \"storages\": 1, \"unknown\": 0, \"bytes\": 512, "
               "\"invisible_bytes\": 988, \"rounding_bytes\": 548, \"allocated_bytes\": 2048");
    SAYS(text, "\"device\": \"cuda:1\", \"storages\": 0, \"unknown\": 0, \"bytes\": 0, "
               "\"invisible_bytes\": null, \"rounding_bytes\": null, \"allocated_bytes\": 1024");
}

static void of_many_storages_the_largest_are_shown(void **state)
{
    struct vrs_tensor many[30];
    struct asking a = { .tensor = many, .tensors = 30 };
    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        many[i] = known[0];
        many[i].storage = i;
        many[i].storage_bytes = 1000 + i;
    }
    SAYS(said(&a, ask_tensors), "9.81 KiB  other (10 storages)");
}

/* 0 -> 1 -> 2 -> 0 with a shorter way 0 -> 2; 2 -> 3 -> 4, a tensor, on which 5 stands too; 6 -> 6
 * holds 7, and the first cycle, whose tensors are not its own; 8 -> 9, no cycle, 10 holds itself.
 */
static const struct vrs_garbage garbage[] = {
    { "Trainer", 0, UINT64_MAX }, { "dict", 0, UINT64_MAX }, { "function", 0, UINT64_MAX },
    { "list", 0, UINT64_MAX },    { "Tensor", 77, 4096 },    { "Parameter", 77, 4096 },
    { "Loop", 0, UINT64_MAX },    { "Tensor", 78, 100 },     { "Lone", 0, UINT64_MAX },
    { "Tensor", 79, 1 << 20 },    { "Tensor", 80, 1 << 30 },
};
static const struct vrs_reference references[] = {
    { 0, 1 }, { 1, 2 }, { 2, 0 }, { 0, 2 }, { 2, 3 }, { 3, 4 },
    { 3, 5 }, { 6, 6 }, { 6, 7 }, { 6, 0 }, { 8, 9 }, { 10, 10 },
};
enum {
    GARBAGE = sizeof garbage / sizeof *garbage,
    REFERENCES = sizeof references / sizeof *references
};

static enum vrs_status ask_cycles(void *arg)
{
    struct asking *a = arg;
    struct vrs_result *result;
    enum vrs_status status =
        vrs_cycles(garbage, GARBAGE, references, REFERENCES, a->tensors, &result, NULL);
    return status == VRS_OK ? write_all(result, &a->text) : status;
}

static void cycles_hold_what_they_reach(void **state)
{
    struct asking a = { .tensors = 1 };
    (void)state;
    const char *text = said(&a, ask_cycles);
    SAYS(text,
         "4.00 KiB of 2 tensors held by a cycle of 3 objects: function -> Trainer -> function, "
         "and function -> list -> Tensor\n");
    SAYS(text, "100 B of 1 tensor held by a cycle of 1 object: Loop -> Loop, and Loop -> Tensor\n");
    SAYS(text, "1.00 GiB of 1 tensor held by a cycle of 1 object: Tensor -> Tensor\n");
    SAYS(text, "\"bytes\": 1073746020,");
    SAYS(text, "\"cycle\": [\"function\", \"Trainer\", \"function\"], "
               "\"to_tensor\": [\"function\", \"list\", \"Tensor\"]");
    assert_null(strstr(text, "Lone"));
    assert_true(strstr(text, "1.00 GiB") < strstr(text, "4.00 KiB") &&
                strstr(text, "4.00 KiB") < strstr(text, "100 B"));
}

static void cycles_that_hold_little_are_left_out(void **state)
{
    struct asking a = { .tensors = 4097 };
    (void)state;
    const char *text = said(&a, ask_cycles);
    SAYS(text, "1.00 GiB");
    assert_null(strstr(text, "KiB"));
    a.tensors = UINT32_MAX;
    SAYS(said(&a, ask_cycles), "no reference cycle holds a tensor\n");
}

static enum vrs_status draw_cycles(void *arg)
{
    struct text *to = arg;
    struct vrs_sink sink = { put, to };
    to->len = 0;
    return vrs_cycles_svg(garbage, 8, references, 10, &sink, NULL);
}

static void the_largest_cycle_is_drawn(void **state)
{
    struct text *to = &(struct text){ .len = 0 };
    (void)state;
    assert_int_equal(draw_cycles(to), VRS_OK);
    SAYS(to->at,
         "<title>4.00 KiB of 2 tensors held by a cycle of 3 objects: function -&gt; Trainer");
    SAYS(to->at, ">function</text>");
    SAYS(to->at, "</svg>\n");
    assert_null(strstr(to->at, "Loop"));
    /* Nothing is drawn where there is no cycle. */
    to->len = 0;
    to->at[0] = '\0';
    struct vrs_sink sink = { put, to };
    assert_int_equal(vrs_cycles_svg(garbage, 5, references, 0, &sink, NULL), VRS_OK);
    assert_int_equal(to->len, 0);
}

/* A chain of 100,000 objects that ends in a tensor and begins where it ends. */
static void long_cycles_need_no_stack(void **state)
{
    enum { LONG = 100000 };
    static struct vrs_garbage object[LONG + 1];
    static struct vrs_reference chain[LONG + 1];
    struct vrs_result *result;
    struct text *text = &(struct text){ .len = 0 };
    (void)state;
    for (uint32_t i = 0; i < LONG; i++) {
        object[i] = (struct vrs_garbage){ "Node", 0, UINT64_MAX };
        chain[i] = (struct vrs_reference){ i, (i + 1) % LONG };
    }
    object[LONG] = (struct vrs_garbage){ "Tensor", 1, 8 };
    chain[LONG] = (struct vrs_reference){ LONG - 1, LONG };
    assert_int_equal(vrs_cycles(object, LONG + 1, chain, LONG + 1, 1, &result, NULL), VRS_OK);
    assert_int_equal(write_as(result, VRS_TEXT, 200, text), VRS_OK);
    vrs_result_free(result);
    SAYS(text->at, "Node -> (99989 more) -> Node");
    text->len = 0;
    struct vrs_sink sink = { put, text };
    assert_int_equal(vrs_cycles_svg(object, LONG + 1, chain, LONG + 1, &sink, NULL), VRS_OK);
    SAYS(text->at, ">\u2026</text>");
    chain[0].to = LONG + 1;
    assert_int_equal(vrs_cycles(object, LONG + 1, chain, LONG + 1, 1, &result, NULL), VRS_USAGE);
}

/* Of two storages one is new; a third tensor is a view of the first. */
static const struct vrs_tensor alive[] = {
    { .name = "", .shape = "(4, 2)", .dtype = "float32", .device = "cuda:0", .storage = 1,
      .storage_bytes = 1 << 20 },
    { .name = "", .shape = "(4, 2)", .dtype = "float32", .device = "cuda:0", .storage = 1,
      .storage_bytes = 1 << 20 },
    { .name = "kept", .shape = "(3,)", .dtype = "bfloat16", .device = "cuda:0", .storage = 2,
      .storage_bytes = 6 << 20 },
};

struct growing {
    uint64_t bytes[8];
    uint32_t moments;
    struct vrs_growth_options options;
    enum vrs_verdict verdict;
    struct text text;
};

static enum vrs_status ask_growth(void *arg)
{
    struct growing *g = arg;
    struct vrs_result *result;
    g->options.size = sizeof g->options;
    enum vrs_status status = vrs_growth(g->bytes, g->moments, &g->options, &result, NULL);
    if (status != VRS_OK)
        return status;
    g->verdict = vrs_verdict(result);
    return write_all(result, &g->text);
}

#define NEVER UINT64_MAX
#define MIB(n) ((uint64_t)(n) << 20)
#define SIX_READINGS                                                                               \
    .moments = 6, .options = { .first_step = 2, .every = 1, .wanted = 6, .least_bytes = MIB(1),    \
                               .present_bytes = NEVER, .collected_bytes = NEVER }

static const char *said_of(struct growing *g, enum vrs_verdict verdict)
{
    assert_int_equal(ask_growth(g), VRS_OK);
    assert_int_equal(g->verdict, verdict);
    return g->text.at;
}

static void growth_is_told_with_what_grew(void **state)
{
    (void)state;
    struct vrs_census first = { alive, 1, 3, MIB(12) }, last = { alive, 3, 7, MIB(20) };
    struct growing g = { { MIB(10), MIB(12), MIB(14), MIB(16), MIB(18), MIB(20) }, SIX_READINGS };
    g.options.first = &first;
    g.options.last = &last;
    const char *text = said_of(&g, VRS_YES);
    SAYS(text, "memory grows: 5 steps added 10.00 MiB, 2.00 MiB in each\n");
    SAYS(text, "objects at the end of step 3 and of step 7; 2.00 MiB of the growth belongs to none "
               "that Python can reach\n");
    SAYS(text, "6.00 MiB       0    1  kept  bfloat16  (3,)    cuda:0\n");
    SAYS(text, "\"growth_bytes\": 0, \"first_bytes\": 1048576, \"last_bytes\": 1048576, "
               "\"first_count\": 1, \"last_count\": 2, \"name\": \"\", \"shape\": \"(4, 2)\"");
    SAYS(text, "\"collection\": null");
}

static void what_goes_with_garbage_is_held_by_cycles(void **state)
{
    (void)state;
    struct growing g = { { MIB(10), MIB(12), MIB(14), MIB(16), MIB(18), MIB(20) }, SIX_READINGS };
    g.options.collected_bytes = MIB(10);
    SAYS(said_of(&g, VRS_YES), "held by reference cycles: after one collection of garbage 0 B");
    g.options.collected_bytes = MIB(18);
    const char *text = said_of(&g, VRS_YES);
    SAYS(text, "after one collection of garbage 8.00 MiB of the growth was left\n");
    SAYS(text, "\"held_by_cycles\": false");
}

static void what_was_freed_before_is_not_held_by_cycles(void **state)
{
    (void)state;
    struct vrs_census first = { alive, 3, 3, MIB(12) }, last = { alive, 1, 7, MIB(11) };
    struct growing g = { { MIB(10), MIB(12), MIB(14), MIB(16), MIB(18), MIB(20) }, SIX_READINGS };
    g.options.present_bytes = MIB(10);
    g.options.collected_bytes = MIB(10);
    const char *text = said_of(&g, VRS_YES);
    SAYS(text, "as much has been freed since");
    SAYS(text, "\"freed\": true");
    SAYS(text, "\"held_by_cycles\": false");
    assert_null(strstr(text, "held by reference cycles"));
    g.options.first = &first;
    g.options.last = &last;
    SAYS(said_of(&g, VRS_YES), "what grew has been freed since\n");
    g.options.present_bytes = MIB(19);
    text = said_of(&g, VRS_YES);
    SAYS(text, "held by reference cycles");
    SAYS(text, "\"rows\": []");
}

static void other_rows_have_other_sentences(void **state)
{
    (void)state;
    static const struct {
        struct growing g;
        enum vrs_verdict verdict;
        const char *says;
    } rows[] = {
        /* Weights of 80 GiB hide nothing. */
        { { { MIB(81920), MIB(81922), MIB(81924), MIB(81926), MIB(81928), MIB(81930) },
            SIX_READINGS },
          VRS_YES, "memory grows: 5 steps added 10.00 MiB" },
        { { { 10, 12, 14, 16, 18, 20 }, SIX_READINGS },
          VRS_NO, "no growth that matters: 5 steps added 10 B, 2 B in each, less than 1.00 MiB" },
        { { { 9, 9, 9, 9, 9, 9 }, SIX_READINGS }, VRS_NO, "no growth: 5 steps added 0 B\n" },
        { { { MIB(1), MIB(2), MIB(3), MIB(9), MIB(9), MIB(9) }, SIX_READINGS },
          VRS_NO, "no growth: memory rose, then stopped; 5 steps added 8.00 MiB" },
        { { { MIB(1), MIB(3), MIB(1), MIB(3), MIB(1), MIB(3) }, SIX_READINGS },
          VRS_NO, "no growth: memory rises and is given back" },
        { { { 10, 12, NEVER, 16, 18, 20 }, SIX_READINGS },
          VRS_NO_VERDICT, "not decided: what the device has allocated is not known" },
        { { { 10, 12, 14 }, .moments = 3, .options = { .every = 10, .wanted = 6 } },
          VRS_NO_VERDICT, "not decided: 20 of 50 steps after the warm-up" },
        { { { 10, 12, 14 }, .moments = 3,
            .options = { .every = 10, .wanted = 3, .present_bytes = NEVER,
                         .collected_bytes = NEVER } },
          VRS_YES, "20 steps added 4 B, 2 B in every 10; so few steps do not tell" },
        { { .options = { .every = 1, .wanted = 6 } },
          VRS_NO_VERDICT, "not decided: 0 of 5 steps after the warm-up" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct growing g = rows[i].g;
        SAYS(said_of(&g, rows[i].verdict), rows[i].says);
    }
}

static void growth_of_no_steps_is_refused(void **state)
{
    (void)state;
    struct growing g = { .options = { .every = 0, .wanted = 6 } };
    assert_int_equal(ask_growth(&g), VRS_USAGE);
    g.options.every = 1;
    g.options.wanted = 2;
    assert_int_equal(ask_growth(&g), VRS_USAGE);
}

static void nothing_is_an_answer(void **state)
{
    struct asking a = { .tensors = 0 };
    (void)state;
    SAYS(said(&a, ask_tensors), "no tensor that Python can reach\n");
    SAYS(said(&a, ask_model), "\"rows\": []");
}

static void every_allocation_may_fail(void **state)
{
    struct asking model = MODEL, table = TABLE;
    (void)state;
    model.options.size = sizeof model.options;
    fault_each(ask_model, NULL, &model);
    fault_each(ask_tensors, NULL, &table);
    table.tensors = 1;
    fault_each(ask_cycles, NULL, &table);
    fault_each(draw_cycles, NULL, &table.text);
    struct vrs_census first = { alive, 1, 3, 0 }, last = { alive, 3, 7, 0 };
    struct growing g = { { MIB(10), MIB(12), MIB(14), MIB(16), MIB(18), MIB(20) }, SIX_READINGS };
    g.options.first = &first;
    g.options.last = &last;
    fault_each(ask_growth, NULL, &g);
}

static void check_parts(uint64_t peak, uint64_t parameters, uint64_t states,
                        struct vrs_step_parts wanted)
{
    struct vrs_step_parts p;
    vrs_step_parts(peak, parameters, states, &p);
    assert_true(p.gradients == wanted.gradients && p.states == wanted.states);
    assert_true(p.activations == wanted.activations);
    assert_true(p.mostly_activations == wanted.mostly_activations);
}

static void activations_are_the_rest_of_a_step(void **state)
{
    (void)state;
    check_parts(100, 10, 5, (struct vrs_step_parts){ 10, 5, 75, true });
    check_parts(100, 10, UINT64_MAX, (struct vrs_step_parts){ 10, 20, 60, true });
    check_parts(100, 10, 30, (struct vrs_step_parts){ 10, 30, 50, false });
    check_parts(100, 50, 0, (struct vrs_step_parts){ 50, 0, 0, false });
    check_parts(10, 50, 0, (struct vrs_step_parts){ 50, 0, 0, false });
    check_parts(UINT64_MAX, 50, 7, (struct vrs_step_parts){ 50, 7, UINT64_MAX, false });
    check_parts(10, UINT64_MAX - 1, 3, (struct vrs_step_parts){ UINT64_MAX - 1, 3, 0, false });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_and_a_storage_counts_once),
        cmocka_unit_test(what_is_too_far_inside_is_in_the_row_around_it),
        cmocka_unit_test(lazy_tensors_make_the_total_a_lower_bound),
        cmocka_unit_test(outputs_are_those_of_all_calls),
        cmocka_unit_test(a_module_that_is_not_there_is_refused),
        cmocka_unit_test(storages_have_one_row_each),
        cmocka_unit_test(what_no_tensor_has_is_the_rest),
        cmocka_unit_test(of_many_storages_the_largest_are_shown),
        cmocka_unit_test(cycles_hold_what_they_reach),
        cmocka_unit_test(cycles_that_hold_little_are_left_out),
        cmocka_unit_test(the_largest_cycle_is_drawn),
        cmocka_unit_test(long_cycles_need_no_stack),
        cmocka_unit_test(growth_is_told_with_what_grew),
        cmocka_unit_test(what_goes_with_garbage_is_held_by_cycles),
        cmocka_unit_test(what_was_freed_before_is_not_held_by_cycles),
        cmocka_unit_test(other_rows_have_other_sentences),
        cmocka_unit_test(growth_of_no_steps_is_refused),
        cmocka_unit_test(activations_are_the_rest_of_a_step),
        cmocka_unit_test(nothing_is_an_answer),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
