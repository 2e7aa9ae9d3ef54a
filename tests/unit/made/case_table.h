/* case_table.h - the text of a table of cases that the tests of C and of the page share. */
#ifndef TESTS_UNIT_CASE_TABLE_H
#define TESTS_UNIT_CASE_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CASE_TABLE_BYTES = 1 << 14 };

/* Reads `name`, which lies below tests/page/core, to the end of the text. */
static inline void read_case_table(const char *name, char table[CASE_TABLE_BYTES])
{
    char path[4096];
    const char *root = getenv("VRAMSCOPE_ROOT");
    assert_non_null(root);
    snprintf(path, sizeof path, "%s/tests/page/core/%s", root, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(table, 1, CASE_TABLE_BYTES - 1, file);
    fclose(file);
    assert_true(len > 100 && len < CASE_TABLE_BYTES - 1);
    table[len] = '\0';
}

#endif
