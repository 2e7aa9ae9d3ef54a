/* serve_none.c - view --serve in a build without libmicrohttpd: says what is missing. */
#include "command.h"
#include "message.h"
#include "view.h"

int view_serve(const struct view_settings *s, int count, char *const *names)
{
    (void)s;
    (void)count;
    (void)names;
    message("this build is without --serve: install libmicrohttpd (tools/setup build names the "
            "package) and build again, or write the page with -o and copy it");
    return EXIT_USAGE;
}
