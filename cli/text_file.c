/* text_file.c - reads a small file of text. */
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"

enum { BYTES_MOST = 1 << 20 };

static int take(const char *option, const char *path, FILE *file, char *text, char **ret)
{
    size_t len = fread(text, 1, BYTES_MOST + 1, file);
    if (ferror(file)) {
        message("%s %s: %s", option, path, strerror(errno));
        return EXIT_USAGE;
    }
    if (len > BYTES_MOST) {
        message("%s %s: larger than 1 MiB; is this the file you meant?", option, path);
        return EXIT_USAGE;
    }
    if (memchr(text, '\0', len) != NULL) {
        message("%s %s: this is not a text file", option, path);
        return EXIT_USAGE;
    }
    text[len] = '\0';
    *ret = text;
    return EXIT_DONE;
}

int text_file_read(const char *option, const char *path, char **ret)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) {
        message("%s %s: %s", option, path, strerror(errno));
        return EXIT_USAGE;
    }
    char *text = malloc(BYTES_MOST + 2);
    int status = EXIT_USAGE;
    if (text == NULL)
        message("out of memory");
    else
        status = take(option, path, file, text, ret);
    if (status != EXIT_DONE)
        free(text);
    if (file != stdin)
        fclose(file);
    return status;
}
