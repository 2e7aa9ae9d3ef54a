/* sarif.c - writes messages and references of SARIF. */
#include "render/write/sarif.h"

#include <stdbool.h>
#include <stddef.h>

const char sarif_schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

void sarif_message(struct buf *to, str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '[' || c == ']' || c == '\\')
            buf_char(to, '\\');
        if (c == '{' || c == '}')
            buf_char(to, c);
        buf_char(to, c);
    }
}

void sarif_uri(struct buf *to, str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '\\')
            c = '/';
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '/' || c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            buf_char(to, c);
        else
            buf_format(to, "%%%02X", (unsigned)(unsigned char)c);
    }
}
