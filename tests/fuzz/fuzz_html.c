/* fuzz_html.c - bytes as a page, and as the one entry of a page. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_read.h"

static const char head[] = "<html>[{\"name\": \"a\", \"base64\": \"";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size);
    size_t len = sizeof head - 1 + size;
    uint8_t *page = malloc(len);
    if (page == NULL)
        return 0;
    memcpy(page, head, sizeof head - 1);
    if (size > 0)
        memcpy(page + sizeof head - 1, data, size);
    fuzz_read(page, len);
    free(page);
    return 0;
}
