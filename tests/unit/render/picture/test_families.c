#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/case_table.h"
#include "render/picture/families.h"
#include "render/picture/palette.h"
#include "render/picture/tones.h"

/* The table that C and the page share, tests/page/core/draw/colour_cases.json: rows of a name, or
 * of a tone, and two colours. */
static char table[CASE_TABLE_BYTES];

/* The first row of a kind; behind a row the next one, NULL behind the last. */
static const char *first_row(const char *kind)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\": [\n", kind);
    const char *at = strstr(table, key);
    assert_non_null(at);
    return at + strlen(key);
}

static const char *next_row(const char *row)
{
    const char *end = strchr(row, '\n');
    return end[-1] == ',' ? end + 1 : NULL;
}

/* The strings of a row, which have no escapes. */
static str string_of(const char *row, uint32_t number)
{
    const char *at = strchr(row, '"');
    while (number-- > 0)
        at = strchr(strchr(at + 1, '"') + 1, '"');
    return (str){ at + 1, (size_t)(strchr(at + 1, '"') - at - 1) };
}

static void check_colours(const char *row, const struct group_colour *colour)
{
    for (uint32_t dark = 0; dark < 2; dark++) {
        str expected = string_of(row, 1 + dark);
        char text[8];
        snprintf(text, sizeof text, "#%06x", (unsigned)colour->rgb[dark]);
        assert_int_equal(expected.len, 7);
        if (memcmp(text, expected.ptr, 7) != 0)
            fail_msg("%s, not %.7s: %.40s", text, expected.ptr, row);
    }
}

static void tones_are_those_of_the_page(void **state)
{
    static const char *const names[TONE_STRENGTHS] = { "quiet", "warm", "strong" };
    uint32_t rows = 0;
    (void)state;
    for (const char *row = first_row("tones"); row != NULL; row = next_row(row), rows++) {
        char *behind;
        struct tone tone = { .hue = (uint32_t)strtoul(strchr(row, '[') + 1, &behind, 10) };
        tone.number = (uint32_t)strtoul(behind + 1, NULL, 10);
        while (!str_equal(string_of(row, 0), str_from(names[tone.strength])))
            tone.strength++;
        check_colours(row, &(struct group_colour){
                               .rgb = { tone_rgb(tone, false), tone_rgb(tone, true) } });
    }
    assert_true(rows > 40);
}

/* What the groups of the table that have no line are for. */
static enum category said_by(str name)
{
    str nameless = S("(no stack) ");
    for (uint32_t i = 0; i < CATEGORIES && str_starts(name, nameless); i++)
        if (str_equal((str){ name.ptr + nameless.len, name.len - nameless.len },
                      str_from(category_names[i])))
            return (enum category)i;
    bool stays = str_starts(name, S("older than")) || str_starts(name, S("(no ")) ||
                 str_starts(name, S("size:"));
    return stays ? CATEGORY_PERSISTENT : CATEGORIES;
}

static void check_families(const char *kind, str line)
{
    enum { MOST = 64 };
    struct family_name name[MOST];
    struct group_colour colour[MOST];
    struct arena arena;
    uint32_t count = 0, checked = 0;
    for (const char *row = first_row(kind); row != NULL; row = next_row(row)) {
        assert_true(count < MOST);
        str text = string_of(row, 0);
        name[count++] = (struct family_name){ text, said_by(text) };
    }
    arena_init(&arena, SIZE_MAX / 2);
    assert_int_equal(families_colour(name, count, line, &arena, colour, NULL), VRS_OK);
    for (const char *row = first_row(kind); row != NULL; row = next_row(row))
        check_colours(row, &colour[checked++]);
    arena_free(&arena);
    assert_true(checked > 20);
}

static void lines_have_the_colours_of_the_page(void **state)
{
    (void)state;
    check_families("quiet", S(""));
    check_families("hot", S("train.py:30 step"));
}

static void what_is_called_so_is_not_taken_for_memory_without_a_line(void **state)
{
    struct family_name name[] = { { S("size:9"), CATEGORIES },
                                  { S("(no good"), CATEGORIES },
                                  { S("older than all"), CATEGORIES },
                                  { S("(no stack)"), CATEGORY_PERSISTENT } };
    struct group_colour colour[4], stays = palette_category(CATEGORY_PERSISTENT);
    struct arena arena;
    (void)state;
    arena_init(&arena, SIZE_MAX / 2);
    assert_int_equal(families_colour(name, 4, S(""), &arena, colour, NULL), VRS_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(colour[i].rgb[0] == stays.rgb[0], i == 3);
    arena_free(&arena);
}

static void no_names_need_no_colours(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena, SIZE_MAX / 2);
    assert_int_equal(families_colour(NULL, 0, S(""), &arena, NULL, NULL), VRS_OK);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tones_are_those_of_the_page),
        cmocka_unit_test(lines_have_the_colours_of_the_page),
        cmocka_unit_test(what_is_called_so_is_not_taken_for_memory_without_a_line),
        cmocka_unit_test(no_names_need_no_colours),
    };
    read_case_table("draw/colour_cases.json", table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
