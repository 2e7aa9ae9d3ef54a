/* csv.c - text as a cell of comma-separated values. */
#include "render/write/csv.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

static bool is_formula(str value)
{
    double number;
    return value.len > 1 && !number_real(value, &number) &&
           strchr("=+-@\t\r\n", value.ptr[0]) != NULL && value.ptr[0] != '\0';
}

void csv_text(struct buf *to, str value)
{
    bool quotes = is_formula(value);
    for (size_t i = 0; i < value.len && !quotes; i++)
        quotes = value.ptr[i] == ',' || value.ptr[i] == '"' || (unsigned char)value.ptr[i] < ' ';
    if (!quotes) {
        buf_str(to, value);
        return;
    }
    buf_char(to, '"');
    if (is_formula(value))
        buf_char(to, '\'');
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"')
            buf_char(to, '"');
        buf_char(to, value.ptr[i]);
    }
    buf_char(to, '"');
}
