/* test_categories.c - the order of the rules, the split of what is older, on steps of a few events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/str.h"
#include "made/answered.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/recording.h"
#include "vramscope/snapshot.h"

/* Stacks by letter, innermost line first. */
static const struct stack_letter stacks[] = {
    { 'F', { { "forward", "/home/u/model.py", 7 }, { "main", "/home/u/train.py", 3 } } },
    { 'X', { { "loss", "/home/u/train.py", 9 }, { "main", "/home/u/train.py", 4 } } },
    { 'I', { { "__init__", "/home/u/model.py", 2 }, { "main", "/home/u/train.py", 1 } } },
    { 'D',
      { { "next", "/usr/lib/python3/site-packages/torch/utils/data/loader.py", 5 },
        { "main", "/home/u/train.py", 2 } } },
    { 'B',
      { { "torch::autograd::generated::MmBackward0::apply()", "??", 0 },
        { "torch::autograd::Engine::thread_main()", "??", 0 } } },
    { 'S',
      { { "torch::autograd::generated::MmBackward0::release_variables()", "??", 0 },
        { "torch::autograd::Engine::thread_main()", "??", 0 } } },
    { 'A',
      { { "torch::autograd::AccumulateGrad::apply()", "??", 0 },
        { "torch::autograd::Engine::thread_main()", "??", 0 } } },
    { 'O',
      { { "step", "/usr/lib/python3/site-packages/torch/optim/adam.py", 8 },
        { "main", "/home/u/train.py", 5 } } },
    { 'P', { { "__init__", "/home/u/my_optim.py", 8 }, { "main", "/home/u/train.py", 5 } } },
    { 'Z',
      { { "zero_grad", "/usr/lib/python3/site-packages/torch/optim/optimizer.py", 6 },
        { "main", "/home/u/train.py", 6 } } },
    { 'W', { { "at::cuda::getNewWorkspace()", "??", 0 }, { "forward", "/home/u/model.py", 7 } } },
    { 'C',
      { { "c10d::all_reduce(at::Tensor const&)", "??", 0 },
        { "forward", "/home/u/model.py", 7 } } },
    { 'L',
      { { "cross_entropy", "/usr/lib/python3/site-packages/torch/nn/functional.py", 7 },
        { "main", "/home/u/train.py", 3 } } },
    { 'G', { { "torch::autograd::deleteNode(torch::autograd::Node*)", "??", 0 } } },
    { 'Q', { { "backward", "/usr/lib/python3/site-packages/torch/autograd/__init__.py", 7 } } },
    { 'K', { { "update", "/home/u/kv_cache.py", 7 }, { "forward", "/home/u/model.py", 7 } } },
};

/* Final blocks in use of these requests, older unless the events make them; then the events, with a
 * letter for the stack of each. */
static void play(struct studied *s, const uint64_t *block, const char *events, const char *letters,
                 const char *own_rules)
{
    studied_begin(s);
    sample_segment(&s->r, 0x10000000, 64 << 20);
    uint64_t rest = 64 << 20;
    for (; *block != 0; block++) {
        uint64_t size = (*block + 511) / 512 * 512;
        sample_block(&s->r, size, *block, BLOCK_ALLOCATED);
        rest -= size;
    }
    sample_block(&s->r, rest, 0, BLOCK_INACTIVE);
    sample_events(&s->r, events);
    sample_letters(&s->r, stacks, sizeof stacks / sizeof *stacks, letters);
    studied_make(s, own_rules);
}

/* "category rule confidence" of the i-th allocation. */
static const char *told(const struct studied *s, uint32_t i, char *text, size_t len)
{
    const struct categories *c = &s->study.categories;
    assert_true(i < c->count);
    snprintf(text, len, "%s %s %s", category_names[c->of[i]], c->rule_names[c->rule[i]],
             confidence_names[c->confidence[i]]);
    return text;
}

/* One allocation, or the first of several, of a trace without older memory. */
static void check(const char *events, const char *letters, const char *want)
{
    static const uint64_t none[] = { 0 };
    struct studied s;
    char have[128];
    play(&s, none, events, letters, "");
    assert_string_equal(told(&s, 0, have, sizeof have), want);
    studied_end(&s);
}

static void the_first_rule_that_holds_decides(void **state)
{
    (void)state;
    check("a 1 100; f 1 100", "WF", "workspace W1 high");
    check("a 1 100; f 1 100", "CF", "communication C1 high");
    check("a 1 100; f 1 100", "KF", "kv_cache K1 medium");
    check("a 1 8519680; a 2 5; f 1 8519680", "-FF", "workspace W3 medium");
    check("a 1 100; a 2 5; f 1 100", "FBZ", "gradient G1 high");
    check("a 1 100; a 2 5; f 1 100", "ABB", "gradient G1 high");
    check("a 1 100; a 2 5; f 1 100", "FBS", "activation S1 high");
    check("a 1 100; a 2 5; f 1 100", "XBS", "activation S1 high");
    check("a 1 100; a 2 5; f 1 100", "OOO", "optimizer_temp O1 high");
    check("a 1 100; a 2 5; f 1 100", "PFF", "optimizer_state O0 medium");
    check("a 1 100; a 2 5; a 3 7", "OFF", "optimizer_state O3 medium");
    check("a 1 100; a 2 5; a 3 7", "OFO", "optimizer_state O3 high");
    check("a 1 100; a 2 5; f 1 100", "BBB", "autograd_detail B1 high");
    check("a 1 100; a 2 5; a 3 7", "BOF", "gradient B2 medium");
    check("a 1 100; a 2 5; f 1 100", "FFX", "temporary F1 high");
    check("a 1 100; a 2 5; f 1 100", "FBB", "activation F2 medium");
    check("a 1 100; a 2 5", "FF", "activation F3 low");
    check("a 1 100; a 2 5; a 3 7", "FBF", "activation F4 medium");
    check("a 1 100; a 2 5", "IF", "unknown U none");
    check("a 1 100; a 2 5; a 3 7", "IFB", "parameter P1 low");
    check("a 1 100; a 2 100; a 3 5", "IBF", "parameter P1 high");
    check("a 1 100; a 2 5; f 1 100", "DFF", "input I1 medium");
    check("a 1 100; a 2 5", "DF", "input I1 low");
    check("a 1 100; f 1 100; a 2 5", "XXB", "temporary T1 low");
    check("a 1 100; a 2 5", "XX", "unknown U none");
}

/* A value held by a name is no temporary where a backward ran meanwhile. */
static void values_are_held_by_names(void **state)
{
    (void)state;
    check("a 1 100; a 2 5; a 3 7; f 1 100", "FBOX", "activation F4 medium");
    check("a 1 100; a 3 7; f 1 100", "FOX", "temporary F5 medium");
    check("a 1 100; a 2 5; f 1 100", "XBB", "activation F2 medium");
    check("a 1 100; f 1 100; a 2 5", "XXB", "temporary T1 low");
    check("a 1 100; a 2 5; a 3 7; f 1 100", "LBOX", "activation F4 medium");
    check("a 1 100; a 2 5; a 3 7", "LOO", "activation F3 low");
    check("a 1 100; a 2 5; a 3 7; f 1 100", "XBOX", "temporary T1 medium");
}

/* Let go by Python alone before any backward: much that goes is a graph, little an output. */
static void graphs_are_dropped(void **state)
{
    (void)state;
    check("a 1 100; a 2 5; a 3 5; a 4 5; a 9 7; f 1 100; f 2 5; f 3 5; f 4 5", "FFFFOXXXX",
          "activation F5 medium");
    check("a 1 100; a 2 5; a 3 5; f 3 5; a 9 7; f 1 100; f 2 5", "FFFFOXX", "temporary F5 medium");
    check("a 1 100; a 9 7; f 1 100", "FOG", "activation S1 high");
}

/* The first request of that size of each thread; one that is given back is no workspace. */
static void workspaces_have_the_stack_of_who_comes_first(void **state)
{
    (void)state;
    check("a 1 8519680; a 2 5", "FB", "workspace W3 medium");
    check("a 1 8519680; a 2 5; f 1 8519680", "FBB", "activation F2 medium");
    static const uint64_t none[] = { 0 };
    struct studied s;
    char have[128];
    play(&s, none, "a 1 8519680; a 2 8519680; a 3 8519680; a 4 5", "FFQB", "");
    assert_string_equal(told(&s, 0, have, sizeof have), "workspace W3 medium");
    assert_string_equal(told(&s, 1, have, sizeof have), "activation F4 medium");
    assert_string_equal(told(&s, 2, have, sizeof have), "workspace W3 medium");
    studied_end(&s);
}

/* Without a stack at a free the phase around it tells. */
static void frees_without_a_stack(void **state)
{
    (void)state;
    check("a 1 100; a 2 5; f 1 100", "FB-", "activation F2 medium");
    check("a 1 100; a 2 5; f 1 100", "BB-", "autograd_detail B1 high");
}

/* Two gradients of 1000 and one of 3000 bytes, kept to the end; the optimizer then runs. */
static const char grads[] = "a 1 1000; a 2 1000; a 3 3000; a 4 9; f 4 9";
static const char grad_letters[] = "BBBOO";

static uint64_t bytes_of(const struct studied *s, enum category category)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->study.lifetimes.count; i++)
        if (s->study.lifetimes.at[i].birth < 0 && s->study.categories.of[i] == category)
            sum += s->study.lifetimes.at[i].bytes;
    return sum;
}

static void older_memory_is_split(void **state)
{
    (void)state;
    static const struct {
        uint64_t block[16];
        uint32_t copies;
        uint64_t parameter, optimizer_state, buffer, persistent;
    } tests[] = {
        { { 1000, 1000, 3000 }, 1, 5000, 0, 0, 0 },
        { { 3000, 1000, 1000, 1000, 1000, 3000 }, 2, 5000, 5000, 0, 0 },
        { { 1000, 1000, 3000, 700, 2 << 20 }, 1, 5000, 0, 700, 2 << 20 },
        { { 2000, 2000, 6000 }, 1, 10000, 0, 0, 0 }, /* precision is mixed */
        { { 500, 500, 1500, 500, 500, 1500 }, 2, 2500, 2500, 0, 0 },
        { { 1000, 1000, 1000, 3000 }, 0, 0, 0, 0, 6000 }, /* one size too often */
        { { 1000, 3000 }, 0, 0, 0, 0, 4000 },
        { { 1000, 1000, 700 }, 0, 0, 0, 0, 2700 }, /* less than 95 % of the gradients */
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct studied s;
        play(&s, tests[i].block, grads, grad_letters, "");
        assert_int_equal(s.study.categories.copies, tests[i].copies);
        assert_int_equal(s.study.categories.multiset_bytes, 5000);
        assert_int_equal(s.study.categories.multiset_entries, 2);
        assert_int_equal(bytes_of(&s, CATEGORY_PARAMETER), tests[i].parameter);
        assert_int_equal(bytes_of(&s, CATEGORY_OPTIMIZER_STATE), tests[i].optimizer_state);
        assert_int_equal(bytes_of(&s, CATEGORY_BUFFER), tests[i].buffer);
        assert_int_equal(bytes_of(&s, CATEGORY_PERSISTENT), tests[i].persistent);
        studied_end(&s);
    }
}

/* What is freed is taken out first: a recording may begin inside a backward, and gradients that
 * zero_grad frees are known to be some. */
static void what_is_freed_is_taken_out(void **state)
{
    (void)state;
    static const uint64_t block[] = { 3000, 1000, 1000, 1000, 1000, 3000, 0 };
    struct studied s;
    play(&s, block, "f 50 1000; f 51 3000; a 1 1000; a 2 1000; a 3 3000; a 4 9; f 4 9; f 52 1000",
         "SBBBBOXX", "");
    assert_int_equal(s.study.categories.copies, 2);
    assert_int_equal(bytes_of(&s, CATEGORY_PARAMETER), 5000);
    assert_int_equal(bytes_of(&s, CATEGORY_OPTIMIZER_STATE), 5000);
    studied_end(&s);
    play(&s, block, "f 50 1000; f 51 1000; f 52 3000; a 1 1000; a 2 1000; a 3 3000; a 4 9; f 4 9",
         "ZZZBBBOX", "");
    assert_int_equal(s.study.categories.copies, 3);
    assert_int_equal(s.study.categories.copies_gradient_bytes, 5000);
    studied_end(&s);
    /* Not all of them: no copy. */
    play(&s, block, "f 50 1000; f 51 1000; a 1 1000; a 2 1000; a 3 3000; a 4 9; f 4 9", "ZZBBBOX",
         "");
    assert_int_equal(s.study.categories.copies, 2);
    assert_int_equal(s.study.categories.copies_gradient_bytes, 0);
    studied_end(&s);
}

/* An optimizer keeps two for each parameter; one that makes its state now has kept none. */
static void more_copies_are_of_no_optimizer(void **state)
{
    (void)state;
    static const uint64_t four[] = { 1000, 1000, 1000, 1000, 3000, 3000, 3000, 3000, 0 };
    static const uint64_t two[] = { 1000, 1000, 3000, 3000, 0 };
    struct studied s;
    play(&s, four, "a 1 1000; a 3 3000; a 4 9; f 4 9", "BBOO", "");
    assert_int_equal(s.study.categories.copies, 4);
    assert_int_equal(s.study.categories.copies_state_bytes, 8000);
    assert_int_equal(s.study.categories.copies_copy_bytes, 4000);
    assert_int_equal(bytes_of(&s, CATEGORY_PARAMETER_COPY), 4000);
    studied_end(&s);
    /* Where the state is seen to be made anew, an older copy may be the state before. */
    play(&s, two, "a 1 1000; a 3 3000; a 4 9; a 5 1000; a 6 3000; a 7 5", "BBOOOF", "");
    assert_int_equal(s.study.categories.copies_copy_bytes, 0);
    assert_int_equal(s.study.categories.copies_state_bytes, 0);
    studied_end(&s);
    play(&s, four, "a 1 1000; a 3 3000; a 4 9; a 5 1000; a 6 3000; a 7 5", "BBOOOF", "");
    assert_int_equal(s.study.categories.copies_copy_bytes, 12000);
    studied_end(&s);
    play(&s, two, "a 1 1000; a 3 3000; a 4 9; a 5 1000; a 6 1000; a 7 5", "BBOOOF", "");
    assert_int_equal(s.study.categories.copies_copy_bytes, 0);
    assert_int_equal(s.study.categories.copies_state_bytes, 4000);
    studied_end(&s);
}

/* Tensors of other kinds may have the size of a parameter, where most sizes say how many copies. */
static void a_size_may_have_other_tensors(void **state)
{
    (void)state;
    static const struct {
        uint64_t block[16];
        uint32_t copies;
    } tests[] = {
        /* Nine tenths are of three sizes; of the last there is one too many. */
        { { 2000, 2000, 3000, 3000, 4000, 4000, 1000, 1000, 1000 }, 2 },
        { { 2000, 2000, 3000, 3000, 4000, 4000, 1000 }, 2 },                   /* one too few */
        { { 3000, 3000, 4000, 4000, 1000 }, 0 },                               /* two sizes agree */
        { { 2000, 2000, 3000, 3000, 4000, 4000, 4000, 1000, 1000, 1000 }, 0 }, /* most of them */
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct studied s;
        play(&s, tests[i].block, "a 1 1000; a 2 2000; a 3 3000; a 4 4000; a 9 9; f 9 9; a 5 8000",
             "BBBBOOF", "");
        assert_int_equal(s.study.categories.copies, tests[i].copies);
        studied_end(&s);
    }
}

/* No gradient is born, yet an optimizer runs after a backward: they are older, and its temporaries
 * have their sizes. */
static void an_optimizer_tells_the_sizes(void **state)
{
    (void)state;
    static const uint64_t block[] = { 1000, 3000, 1000, 3000, 1000, 3000, 1000, 3000, 0 };
    struct studied s;
    play(&s, block, "a 1 500; f 1 500; a 2 1000; a 3 3000; f 2 1000; f 3 3000; a 5 8000", "BBOOOOF",
         "");
    assert_int_equal(s.study.categories.copies, 4);
    assert_int_equal(s.study.categories.copies_gradient_bytes, 4000);
    assert_int_equal(s.study.categories.copies_state_bytes, 8000);
    studied_end(&s);
    play(&s, block, "a 1 500; f 1 500; a 2 2000; a 3 3000; f 2 2000; f 3 3000; a 5 8000", "BBOOOOF",
         "");
    assert_int_equal(s.study.categories.copies, 0);
    assert_int_equal(s.study.categories.multiset_entries, 0);
    studied_end(&s);
}

/* Gradients that are added to in place are freed under AccumulateGrad, and never stay. */
static void gradients_are_added_to_in_place(void **state)
{
    (void)state;
    static const uint64_t block[] = { 1000, 1000, 1000, 1000, 3000, 3000, 0 };
    struct studied s;
    play(&s, block, "a 1 1000; f 1 1000; a 2 3000; f 2 3000; a 1 1000; f 1 1000; a 4 9; f 4 9",
         "BABABAOO", "");
    assert_int_equal(s.study.categories.copies, 2);
    assert_int_equal(bytes_of(&s, CATEGORY_PARAMETER), 5000);
    assert_int_equal(bytes_of(&s, CATEGORY_GRADIENT), 5000);
    assert_int_equal(s.study.categories.copies_gradient_bytes, 5000);
    for (uint32_t i = 0; i < s.study.lifetimes.count; i++)
        assert_int_equal(s.study.categories.undecided[i], s.study.lifetimes.at[i].birth < 0);
    studied_end(&s);
}

/* State made anew in the second step stands for that of the first; a twin of another size for
 * nothing. */
static void an_optimizer_replaces(void **state)
{
    (void)state;
    static const uint64_t none[] = { 0 };
    static const char letters[] = "PPFFOOOO";
    struct studied s;
    char have[128];
    play(&s, none, "a 1 100; a 2 100; a 9 5; f 9 5; a 3 100; f 1 100; a 4 100; f 2 100", letters,
         "");
    assert_int_equal(s.study.categories.replaced_count, 2);
    assert_int_equal(s.study.categories.replaced_bytes, 200);
    assert_string_equal(told(&s, 3, have, sizeof have), "optimizer_state O2 medium");
    assert_string_equal(told(&s, 4, have, sizeof have), "optimizer_state O2 medium");
    studied_end(&s);
    play(&s, none, "a 1 100; a 2 100; a 9 5; f 9 5; a 3 104; f 1 100; a 4 100; f 2 100", letters,
         "");
    assert_int_equal(s.study.categories.replaced_count, 0);
    assert_string_equal(told(&s, 3, have, sizeof have), "optimizer_state O3 medium");
    studied_end(&s);
}

/* Frees that repeat the stacks of allocs are no evidence. */
static void repeated_stacks_say_nothing(void **state)
{
    (void)state;
    check("a 1 100; f 1 100; a 2 5; f 2 5", "SSBB", "autograd_detail B1 high");
    check("a 1 100; a 2 5; f 2 5; f 1 100", "ZBBZ", "unknown U none");
}

static void rules_of_ones_own_come_first(void **state)
{
    (void)state;
    static const uint64_t none[] = { 0 };
    struct studied s;
    char have[128];
    play(&s, none, "a 1 100; a 2 5; f 1 100", "FBS",
         "rule a kv_cache low\n size = 99\nrule b input high\n size = 100 # this\n");
    assert_string_equal(told(&s, 0, have, sizeof have), "input b high");
    assert_string_equal(told(&s, 1, have, sizeof have), "autograd_detail B3 low");
    studied_end(&s);
}

/* 0 where the item is not listed. */
static int64_t item_bytes(const struct training_need *e, enum residual id)
{
    for (uint32_t i = 0; i < e->items; i++)
        if (e->item[i].id == id)
            return e->item[i].bytes;
    return 0;
}

static void tables_and_estimates_add_up(void **state)
{
    (void)state;
    /* The last three are the gradients, which stay. */
    static const uint64_t block[] = { 1000, 1000, 3000, 600, 1000, 1000, 3000, 0 };
    struct studied s;
    play(&s, block,
         "a 1 7000; a 10001800 1000; a 10001c00 1000; a 10002000 3000; f 1 7000; a 6 50; f 6 50",
         "FBBBSOO", "");
    struct category_table t;
    struct parts parts = { NULL };
    struct category_table_options options = { .at_event = 3 };
    assert_int_equal(parts_training_need(&parts, &s.study, &options.training_need, NULL), VRS_OK);
    assert_int_equal(category_table_compute(&s.study, &options, &t, NULL), VRS_OK);
    assert_int_equal(t.total_bytes, 17600);
    assert_int_equal(t.rows, 4);
    assert_int_equal(t.row[0].category, CATEGORY_ACTIVATION);
    assert_int_equal(t.row[0].sure_bytes[CONFIDENCE_HIGH], 7000);
    assert_int_equal(t.row[3].bytes, 600);
    assert_int_equal(t.remainders, 1);
    const struct training_need *e = &t.training_need;
    assert_true(t.has_training_need && !e->inference && !e->optimizer_side);
    assert_int_equal(e->term[TERM_P].bytes, 5000);
    assert_int_equal(e->term[TERM_G].bytes, 5000);
    assert_int_equal(e->term[TERM_G_OI].bytes, 5050);
    assert_int_equal(e->term[TERM_G_OI].event, 5);
    assert_int_equal(e->term[TERM_A].bytes, 7000);
    assert_int_equal(e->term[TERM_B].bytes, 600);
    assert_int_equal(e->formula_bytes, 12600);
    assert_int_equal(e->measured_bytes, 17600);
    assert_int_equal(e->items, 1);
    assert_int_equal(item_bytes(e, RESIDUAL_G), 5000);
    assert_int_equal(e->unexplained_bytes, 0);
    assert_string_equal(e->term[TERM_A].site[0].culprit.ptr, "model.py:7 forward");
    studied_end(&s);
}

/* A value held by a name and the gradients of the loss's inputs are terms of their own; a value
 * that is bound anew before the backward is not counted twice. */
static void held_values_and_gradients_of_the_loss(void **state)
{
    (void)state;
    static const uint64_t none[] = { 0 };
    struct studied s;
    play(&s, none,
         "a 1 700; a 2 90; a 3 400; f 3 400; f 1 700; a 4 9; a 5 90; f 2 90; a 6 700; a 7 400; f 7 "
         "400;"
         " f 6 700; a 8 9; f 5 90",
         "FFBBSOFXFBBSOX", "");
    const struct training_need *e;
    struct parts parts = { NULL };
    assert_int_equal(parts_training_need(&parts, &s.study, &e, NULL), VRS_OK);
    assert_int_equal(e->term[TERM_A].bytes, 700);
    assert_int_equal(e->term[TERM_LG].bytes, 400);
    assert_int_equal(e->term[TERM_H].bytes, 90);
    studied_end(&s);
}

/* Of sizes near 2^64 sums may be wrong, and nothing else. */
static void hostile_sizes(void **state)
{
    (void)state;
    static const uint64_t none[] = { 0 };
    struct studied s;
    play(&s, none,
         "a 1 18446744073709551614; a 2 18446744073709551614; a 3 9223372036854775808; a 4 5; "
         "f 1 18446744073709551614",
         "BBBOO", "");
    struct category_table t;
    struct parts parts = { NULL };
    struct category_table_options options = { .at_event = 4 };
    assert_int_equal(parts_training_need(&parts, &s.study, &options.training_need, NULL), VRS_OK);
    assert_int_equal(category_table_compute(&s.study, &options, &t, NULL), VRS_OK);
    studied_end(&s);
}

static void check_refused(const char *rules, const char *message)
{
    struct category_rules r;
    struct vrs_error err;
    category_rules_init(&r);
    assert_int_equal(category_rules_read(&r, str_from(rules), "my.rules", &err), VRS_USAGE);
    assert_string_equal(err.message, message);
    category_rules_free(&r);
}

static void mistakes_name_their_line(void **state)
{
    (void)state;
    check_refused(" born = forward", "my.rules:1: a condition needs a rule above it");
    check_refused("\n\nrule",
                  "my.rules:3: a rule is named by at most 60 letters, digits, _, - and .");
    check_refused("rule a b", "my.rules:1: unknown category \"b\"");
    check_refused("rule a input", "my.rules:1: a header ends with low, medium or high");
    check_refused("rule a input high x", "my.rules:1: a header ends with low, medium or high");
    check_refused("rule a input high\n x", "my.rules:2: unknown key \"x\"");
    check_refused("rule a input high\n born", "my.rules:2: born does not go with \"\"");
    check_refused("rule a input high\n born =", "my.rules:2: born does not take \"\"");
    check_refused("rule a input high\n born < data", "my.rules:2: born does not go with \"<\"");
    check_refused("rule a input high\n size = -1",
                  "my.rules:2: size needs a number of bytes, such as 2MiB");
    check_refused("rule a input high\n size = 17179869184GiB",
                  "my.rules:2: size needs a number of bytes, such as 2MiB");
    check_refused("rule a input high\n life_events = 1KiB",
                  "my.rules:2: life_events needs a whole number");
    check_refused("rule a input high\n size in_multiset input",
                  "my.rules:2: size does not go with \"in_multiset\"");
    check_refused("rule a input high\n alloc.any ~", "my.rules:2: alloc.any needs a text");
    check_refused(
        "rule a input high\n free.any ~ (",
        "my.rules:2: bad expression: missing closing parenthesis at byte 1; \\( and \\) are "
        "parentheses");
    check_refused("set root = x", "my.rules:1: unknown word \"root\"; a line begins with rule, set "
                                  "user_root or plumbing, or is indented");
    check_refused("set user_root x", "my.rules:1: user_root = needs a path");
    check_refused("plumbing = x\n born = data", "my.rules:2: a condition needs a rule above it");
}

static void settings_are_kept(void **state)
{
    (void)state;
    struct category_rules r;
    category_rules_init(&r);
    const char *text =
        "\xef\xbb\xbfset user_root = src dir/ # mine\r\nplumbing = a/b\nplumbing = c\n"
        "rule x kv_cache low\n\tdies = same_interval data\n\n  size >= 2KiB\n";
    assert_int_equal(category_rules_read(&r, str_from(text), "my.rules", NULL), VRS_OK);
    assert_string_equal(r.user_root.ptr, "src dir/");
    assert_int_equal(r.plumbing.len, 2);
    assert_string_equal(r.plumbing.at[1].ptr, "c");
    assert_int_equal(r.rule.len, 1);
    assert_int_equal(r.rule.at[0].conditions, 2);
    assert_true(r.condition.at[0].number == (RULE_SAME_INTERVAL | 1u << PHASE_DATA));
    assert_int_equal(r.condition.at[1].number, 2048);
    category_rules_free(&r);
}

/* The public way, with each allocation failing in turn. */
static const char small_text[] =
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152, \"stream\": 0,"
    " \"segment_type\": \"small\", \"blocks\": ["
    "{\"address\": 4096, \"size\": 1024, \"requested_size\": 1000,"
    " \"state\": \"active_allocated\", \"frames\": []},"
    "{\"address\": 5120, \"size\": 2096128, \"requested_size\": 0, \"state\": \"inactive\"}]}],"
    "\"device_traces\": [["
    "{\"action\": \"alloc\", \"addr\": 5120, \"size\": 1000, \"stream\": 0,"
    " \"frames\": [{\"name\": \"torch::autograd::Engine::run()\", \"filename\": \"??\","
    " \"line\": 0}]},"
    "{\"action\": \"alloc\", \"addr\": 6144, \"size\": 70, \"stream\": 0,"
    " \"frames\": [{\"name\": \"forward\", \"filename\": \"/home/user/model.py\", \"line\": 7}]},"
    "{\"action\": \"free_completed\", \"addr\": 6144, \"size\": 70, \"stream\": 0,"
    " \"frames\": []},"
    "{\"action\": \"free_completed\", \"addr\": 5120, \"size\": 1000, \"stream\": 0,"
    " \"frames\": []}]]}";

static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_categories_options options = {
        .size = sizeof options,
        .rules = "set user_root = src\nplumbing = x\nrule a kv_cache low\n alloc.owner ~* zz\n"
                 " alloc.any = q\n",
    };
    struct vrs_peak_options by = { .size = sizeof by, .by = "category" };
    enum vrs_status status = vrs_categories(r, &options, &to[0], NULL);
    return status == VRS_OK ? vrs_peak(r, &by, &to[1], NULL) : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct vrs_write_options ways[] = {
        { .size = sizeof ways[0], .format = VRS_JSON },
        { .size = sizeof ways[0], .width = 120 },
    };
    const struct asking asking = {
        .recording = small_text, .ask = ask, .way = ways, .ways = sizeof ways / sizeof *ways
    };
    assert_non_null(strstr(answered(&asking), "\"category\": \"parameter\""));
    answered_without_memory(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_holds_decides),
        cmocka_unit_test(values_are_held_by_names),
        cmocka_unit_test(graphs_are_dropped),
        cmocka_unit_test(workspaces_have_the_stack_of_who_comes_first),
        cmocka_unit_test(frees_without_a_stack),
        cmocka_unit_test(older_memory_is_split),
        cmocka_unit_test(what_is_freed_is_taken_out),
        cmocka_unit_test(more_copies_are_of_no_optimizer),
        cmocka_unit_test(a_size_may_have_other_tensors),
        cmocka_unit_test(an_optimizer_tells_the_sizes),
        cmocka_unit_test(gradients_are_added_to_in_place),
        cmocka_unit_test(an_optimizer_replaces),
        cmocka_unit_test(repeated_stacks_say_nothing),
        cmocka_unit_test(rules_of_ones_own_come_first),
        cmocka_unit_test(tables_and_estimates_add_up),
        cmocka_unit_test(held_values_and_gradients_of_the_loss),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(mistakes_name_their_line),
        cmocka_unit_test(settings_are_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
