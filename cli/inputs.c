/* inputs.c - lists the files that arguments name: files, what folders hold, standard input. */
#define _XOPEN_SOURCE 700
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <vramscope/vramscope.h>

#include "command.h"
#include "message.h"

static bool ends(const char *name, size_t len, const char *ending)
{
    size_t more = strlen(ending);
    return len > more && strncasecmp(name + len - more, ending, more) == 0;
}

/* By name only: opening every file of a folder would read a disk to find out. */
static bool is_candidate(const char *name)
{
    static const char *const endings[] = { ".pickle", ".pkl", ".json", ".html", ".htm" };
    size_t len = strlen(name);
    if (name[0] == '.')
        return false;
    if (ends(name, len, ".gz"))
        len -= 3;
    else if (ends(name, len, ".zst"))
        len -= 4;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ends(name, len, endings[i]))
            return true;
    }
    return false;
}

/* Takes the path over. */
static int add(struct inputs *inputs, char *path, bool found)
{
    if (path != NULL && inputs->count == inputs->room) {
        uint32_t room = inputs->room == 0 ? 16 : inputs->room * 2;
        struct input *grown = realloc(inputs->at, room * sizeof *grown);
        if (grown == NULL) {
            free(path);
            path = NULL;
        } else {
            inputs->at = grown;
            inputs->room = room;
        }
    }
    if (path == NULL) {
        message("out of memory");
        return EXIT_FAILED;
    }
    inputs->at[inputs->count++] = (struct input){ path, found, false };
    return EXIT_DONE;
}

static char *joined(const char *folder, const char *name)
{
    size_t len = strlen(folder), room = len + strlen(name) + 2;
    const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s%s%s", folder, slash, name);
    return path;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->path, ((const struct input *)b)->path);
}

static bool is_own(const char *path)
{
    size_t len = strlen(path);
    return (ends(path, len, ".html") || ends(path, len, ".json")) && vrs_is_own(path);
}

/* Takes the path over; what cannot be kept is not named. */
static void leave_out(struct inputs *inputs, char *path, bool is_folder)
{
    uint32_t room = inputs->left_outs + 1;
    struct left_out *grown = inputs->left_out;
    /* Twice the room each time there is a power of two of them. */
    if ((inputs->left_outs & room) == 0 && path != NULL)
        grown = realloc(grown, 2 * (size_t)room * sizeof *grown);
    if (path == NULL || grown == NULL) {
        free(path);
        return;
    }
    inputs->left_out = grown;
    inputs->left_out[inputs->left_outs++] = (struct left_out){ path, is_folder };
}

static int by_folder_and_path(const void *a, const void *b)
{
    const struct left_out *x = a, *y = b;
    return x->is_folder != y->is_folder ? y->is_folder - x->is_folder : strcmp(x->path, y->path);
}

static int add_folder(struct inputs *inputs, const char *folder)
{
    DIR *listing = opendir(folder);
    if (listing == NULL) {
        message("%s: %s", folder, strerror(errno));
        return EXIT_FAILED;
    }
    uint32_t first = inputs->count;
    int wrong = EXIT_DONE;
    const struct dirent *entry;
    while (wrong == EXIT_DONE && (entry = readdir(listing)) != NULL) {
        struct stat facts = { 0 };
        if (entry->d_name[0] == '.')
            continue;
        char *path = joined(folder, entry->d_name);
        /* Reading a pipe would wait for its writer, and what was written of recordings is none. */
        bool regular = path == NULL || (stat(path, &facts) == 0 && S_ISREG(facts.st_mode));
        bool candidate = is_candidate(entry->d_name);
        bool own = path != NULL && candidate && regular && is_own(path);
        if (own && inputs->run == NULL && strcmp(entry->d_name, "run.json") == 0)
            inputs->run = path;
        else if (!candidate || own || !regular)
            leave_out(inputs, path, S_ISDIR(facts.st_mode));
        else
            wrong = add(inputs, path, true);
    }
    closedir(listing);
    uint32_t count = inputs->count - first;
    if (inputs->left_outs > 0)
        qsort(inputs->left_out, inputs->left_outs, sizeof *inputs->left_out, by_folder_and_path);
    if (wrong == EXIT_DONE && count == 0) {
        message("%s: no recording in this folder: memory snapshots end in .pickle, .pkl, .json or "
                ".html, profiler traces in .json, also with .gz or .zst",
                folder);
        return EXIT_FAILED;
    }
    if (count > 0)
        qsort(inputs->at + first, count, sizeof *inputs->at, by_path);
    return wrong;
}

bool input_is_named(const char *path)
{
    if (path[0] == '\0')
        message("the name of a FILE is empty; was a variable not set?");
    return path[0] != '\0';
}

bool input_can_be_read_again(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") != 0 && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool input_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int inputs_find_pair(int count, char *const *names, struct inputs *ret)
{
    *ret = (struct inputs){ .several = count > 1 };
    int result = EXIT_DONE;
    bool standard = false;
    for (int i = 0; i < count; i++) {
        int wrong;
        if (strcmp(names[i], "-") == 0 && standard) {
            message("standard input can be read only once");
            return EXIT_USAGE;
        }
        if (!input_is_named(names[i]))
            return EXIT_USAGE;
        standard = standard || strcmp(names[i], "-") == 0;
        if (strcmp(names[i], "-") != 0 && input_is_folder(names[i])) {
            ret->several = true;
            wrong = add_folder(ret, names[i]);
        } else {
            wrong = add(ret, strdup(names[i]), false);
        }
        if (wrong != EXIT_DONE)
            result = wrong;
    }
    return result;
}

/* A file by its folder's real name: the same for "a" and "./a", another for a link to it, whose
 * name may tell a rank.  To be freed; NULL: no memory. */
static char *place_of(const char *path)
{
    if (strcmp(path, "-") == 0)
        return strdup(path);
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(base - path));
    char *real = folder == NULL ? NULL : realpath(folder, NULL);
    char *place = real != NULL ? joined(real, base) : folder != NULL ? strdup(path) : NULL;
    free(folder);
    free(real);
    return place;
}

struct placed {
    char *place;
    uint32_t input;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = strcmp(x->place, y->place);
    return order != 0 ? order : (x->input > y->input) - (x->input < y->input);
}

/* Of those of one place the first stays. */
static void drop_again(struct inputs *inputs, const struct placed *placed)
{
    const char *twice = NULL;
    uint32_t kept = 0, files = 0, first = 0, last = UINT32_MAX;
    for (uint32_t i = 1; i < inputs->count; i++) {
        if (strcmp(placed[first].place, placed[i].place) != 0) {
            first = i;
            continue;
        }
        struct input *input = &inputs->at[placed[first].input],
                     *again = &inputs->at[placed[i].input];
        files += last != first;
        twice = twice == NULL ? input->path : twice;
        last = first;
        input->found = input->found && again->found;
        free(again->path);
        again->path = NULL;
    }
    if (files == 1)
        message("%s is named more than once, and read once", twice);
    else if (files > 1)
        message("%s and %u more are named more than once, and each is read once", twice,
                (unsigned)files - 1);
    for (uint32_t i = 0; i < inputs->count; i++)
        if (inputs->at[i].path != NULL)
            inputs->at[kept++] = inputs->at[i];
    inputs->count = kept;
}

static int drop_twins(struct inputs *inputs)
{
    uint32_t count = inputs->count; /* of which some go */
    struct placed *placed = calloc(count, sizeof *placed);
    bool whole = placed != NULL;
    for (uint32_t i = 0; whole && i < count; i++) {
        placed[i] = (struct placed){ place_of(inputs->at[i].path), i };
        whole = placed[i].place != NULL;
    }
    if (whole) {
        qsort(placed, count, sizeof *placed, by_place);
        drop_again(inputs, placed);
    } else {
        message("out of memory");
    }
    for (uint32_t i = 0; placed != NULL && i < count; i++)
        free(placed[i].place);
    free(placed);
    return whole ? EXIT_DONE : EXIT_FAILED;
}

int inputs_find(int count, char *const *names, struct inputs *ret)
{
    bool folder = false;
    int wrong = inputs_find_pair(count, names, ret);
    if (count > 1) {
        /* Ranks of several jobs have the same numbers. */
        free(ret->run);
        ret->run = NULL;
    }
    if (wrong == EXIT_USAGE || count < 2 || ret->count < 2)
        return wrong;
    for (uint32_t i = 0; i < ret->count; i++)
        folder = folder || ret->at[i].found;
    int twins = drop_twins(ret);
    /* As if it had been named once. */
    ret->several = folder || ret->count > 1;
    return twins != EXIT_DONE ? twins : wrong;
}

/* Those from `first` on that are of one kind, in one line. */
static uint32_t say_some(const struct inputs *inputs, uint32_t first, const char *why)
{
    enum { SHOWN = 5 };
    char text[PATH_MAX] = "", more[24] = "";
    uint32_t end = first, shown = 0;
    size_t len = 0;
    for (; end < inputs->left_outs &&
           inputs->left_out[end].is_folder == inputs->left_out[first].is_folder;
         end++) {
        const char *path = inputs->left_out[end].path;
        if (shown == SHOWN || len + strlen(path) + 3 > sizeof text)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? ", " : "", path);
        shown++;
    }
    if (end - first > shown)
        snprintf(more, sizeof more, " and %u more", (unsigned)(end - first - shown));
    message("left out: %s%s: %s", text, more, why);
    return end;
}

void inputs_say_left_out(const struct inputs *inputs)
{
    uint32_t at = 0;
    if (inputs->left_outs > 0 && inputs->left_out[0].is_folder)
        at = say_some(inputs, at, "folders inside a folder; name them to read them");
    if (at < inputs->left_outs)
        say_some(inputs, at, "no traces by name or kind, or answers that vramscope wrote");
}

void inputs_sort(struct inputs *inputs)
{
    if (inputs->count > 1)
        qsort(inputs->at, inputs->count, sizeof *inputs->at, by_path);
}

void inputs_free(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        free(inputs->at[i].path);
    for (uint32_t i = 0; i < inputs->left_outs; i++)
        free(inputs->left_out[i].path);
    free(inputs->at);
    free(inputs->left_out);
    free(inputs->run);
    *inputs = (struct inputs){ 0 };
}
