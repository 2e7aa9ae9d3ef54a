/* serve_none.c - view --serve in a build without libmicrohttpd: says what is missing. */
#include <stdbool.h>
#include <stdio.h>

#include "command.h"
#include "message.h"
#include "view.h"

bool view_can_serve(char *why, size_t size)
{
    snprintf(why, size, "this build is without view --serve");
    return false;
}

int view_serve(const struct view_settings *s, int count, char *const *names)
{
    (void)s;
    (void)count;
    (void)names;
    message("this build is without --serve: install libmicrohttpd (tools/setup build names the "
            "package) and build again, or write the page with -o and copy it");
    return EXIT_USAGE;
}
