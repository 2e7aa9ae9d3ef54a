/* inputs.c - files and folders. */
#define _POSIX_C_SOURCE 200809L
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

static bool is_own_page(const char *path)
{
    size_t len = strlen(path), ending = strlen(".html");
    return len > ending && strcmp(path + len - ending, ".html") == 0 && vrs_is_own(path);
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
        struct stat facts;
        if (!is_candidate(entry->d_name))
            continue;
        char *path = joined(folder, entry->d_name);
        /* Reading a pipe would wait for its writer, and pages of last time are no recordings. */
        if (path != NULL &&
            (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || is_own_page(path)))
            free(path);
        else
            wrong = add(inputs, path, true);
    }
    closedir(listing);
    uint32_t count = inputs->count - first;
    if (wrong == EXIT_DONE && count == 0) {
        message("%s: no recording in this folder; they end in .pickle, .pkl, .json or .html, "
                "also with .gz or .zst",
                folder);
        return EXIT_FAILED;
    }
    if (count > 0)
        qsort(inputs->at + first, count, sizeof *inputs->at, by_path);
    return wrong;
}

bool input_is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int inputs_find(int count, char *const *names, struct inputs *ret)
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

void inputs_sort(struct inputs *inputs)
{
    if (inputs->count > 1)
        qsort(inputs->at, inputs->count, sizeof *inputs->at, by_path);
}

void inputs_free(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        free(inputs->at[i].path);
    free(inputs->at);
    *inputs = (struct inputs){ 0 };
}
