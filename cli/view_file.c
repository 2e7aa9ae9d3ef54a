/* view_file.c - writes what `view` makes into the file that is named, or named after its input. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "inputs.h"
#include "message.h"
#include "output.h"
#include "view.h"
#include "vramscope/snapshot.h"

/* "run.pickle.gz" becomes "run" and `ending`; NULL: no memory.  To be freed. */
static char *default_name(const char *path, const char *ending)
{
    static const char *const endings[] = { ".gz", ".zst", ".pickle", ".pkl", ".json", ".html" };
    const char *base = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    size_t len = strlen(base);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t known = strlen(endings[i]);
        if (len > known && memcmp(base + len - known, endings[i], known) == 0)
            len -= known;
    }
    bool piped = strcmp(base, "-") == 0;
    size_t room = len + sizeof "vramscope" + strlen(ending);
    char *name = malloc(room);
    if (name != NULL && (piped || len == 0))
        snprintf(name, room, "vramscope%s", ending);
    else if (name != NULL)
        snprintf(name, room, "%.*s%s", (int)len, base, ending);
    return name;
}

/* Whether a file of that name is an input that may be a recording, which it then has said.  A page
 * of last time, found in a folder, may go. */
static bool replaces_input(const struct pages *p, const char *name)
{
    for (uint32_t i = 0; i < p->inputs.count; i++) {
        const struct input *input = &p->inputs.at[i];
        if (input->other)
            continue;
        if (p->s->common.output != NULL && output_replaces("-o", name, input->path))
            return true;
        if (p->s->common.output == NULL && !output_is_stream(input->path) &&
            output_is_file(name, input->path)) {
            message("%s would replace the recording it reads; name another file with -o", name);
            return true;
        }
    }
    return false;
}

/* Whether a name that nobody gave is that of a file from elsewhere, which it then has said. */
static bool replaces_other(const struct pages *p, const char *name)
{
    struct stat facts;
    if (p->s->common.output != NULL || stat(name, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        vrs_is_own(name))
        return false;
    message("%s exists, and vramscope did not write it; to replace it say -o %s, or name another "
            "file with -o",
            name, name);
    return true;
}

static int write_named(const struct pages *p, const char *name, view_writer *write,
                       const char *said)
{
    struct vrs_error err;
    struct output output;
    if (output_open(&output, "-o", name) != EXIT_DONE)
        return EXIT_FAILED;
    struct vrs_sink sink = { output_write, &output };
    enum vrs_status status = write(p, &sink, &err);
    int ended = EXIT_DONE;
    if (status != VRS_OK && output.error == 0) {
        if (p->count > 1 && status == VRS_USAGE)
            message("%s", err.message);
        else
            message_failure(p->path[0], &err);
        ended = failure_exit(status);
    }
    int closed = output_close(&output, status == VRS_OK);
    /* A name that the user did not give is the answer. */
    if (ended == EXIT_DONE && closed == EXIT_DONE && p->s->common.output == NULL) {
        message_name(stdout, name);
        printf("%s\n", said);
    }
    return ended != EXIT_DONE ? ended : closed;
}

int view_write_file(const struct pages *p, const char *ending, view_writer *write, const char *said)
{
    const char *given = p->s->common.output;
    char *made = given == NULL ? default_name(p->path[0], ending) : NULL;
    if (given == NULL && made == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    const char *name = given == NULL ? made : given;
    bool taken = replaces_input(p, name) || replaces_other(p, name);
    int ended = taken ? EXIT_USAGE : write_named(p, name, write, said);
    free(made);
    return ended;
}
