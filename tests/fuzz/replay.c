/* replay.c - stands in for libFuzzer: feeds every file of a folder to the target once.
 *
 * Prints TAP, one line per file, and the name of a file before it is run, so that a crash
 * names its input.  Files are taken in the order of their names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int by_name(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Every regular file of `folder`, sorted; -1 when the folder cannot be read. */
static long list(const char *folder, char ***ret)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return -1;
    char **paths = NULL;
    size_t len = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct stat st;
        char *path = join(folder, entry->d_name);
        char **grown = realloc(paths, (len + 1) * sizeof *paths);
        if (path == NULL || grown == NULL)
            abort();
        paths = grown;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            paths[len++] = path;
        else
            free(path);
    }
    closedir(dir);
    if (len > 0)
        qsort(paths, len, sizeof *paths, by_name);
    *ret = paths;
    return (long)len;
}

/* The whole file in a block of exactly its size, so that a read past its end is caught. */
static uint8_t *slurp(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    struct stat st;
    uint8_t *data = NULL;
    if (fstat(fileno(file), &st) == 0) {
        size_t size = (size_t)st.st_size;
        data = malloc(size > 0 ? size : 1);
        if (data != NULL && fread(data, 1, size, file) != size) {
            free(data);
            data = NULL;
        }
        *ret_size = size;
    }
    fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    char **paths = NULL;
    long count = argc == 2 ? list(argv[1], &paths) : -1;
    if (count <= 0) {
        printf("Bail out! no corpus: give one folder that holds files\n");
        return 1;
    }

    int status = 0;
    printf("1..%ld\n", count);
    for (long i = 0; i < count; i++) {
        size_t size = 0;
        printf("# %s\n", paths[i]);
        fflush(stdout);
        uint8_t *data = slurp(paths[i], &size);
        if (data != NULL)
            LLVMFuzzerTestOneInput(data, size);
        else
            status = 1;
        printf("%s %ld - %s\n", data != NULL ? "ok" : "not ok", i + 1, strrchr(paths[i], '/') + 1);
        free(data);
        free(paths[i]);
    }
    free(paths);
    return status;
}
