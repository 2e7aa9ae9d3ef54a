/* rewrite IN OUT: writes each recording of IN as a snapshot, to OUT.0, OUT.1, …
 *
 * For tests: no command of vramscope writes a recording back as it is.  Exit status: 0, 1 when the
 * output could not be written, 2 for wrong usage, 3 when IN cannot be read, 4 when one of its
 * recordings cannot be a snapshot. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/file.h"
#include "format/input/source.h"
#include "format/read.h"
#include "render/export/snapshot_pickle.h"
#include "render/write/out.h"

static bool write_bytes(void *file, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, file) == len;
}

static int rewrite(const struct entry *entry, const char *path)
{
    struct vrs_error err = entry->error;
    if (entry->status != VRS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    struct out out = { .write = write_bytes, .arg = file };
    buf_init(&out.text, SIZE_MAX / 2);
    enum vrs_status status = snapshot_pickle(&out, entry->recording, &err);
    out_flush(&out, 0);
    bool written = !out.text.failed && !out.refused;
    buf_free(&out.text);
    written = fclose(file) == 0 && written;
    if (status != VRS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 4;
    }
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: rewrite IN OUT\n");
        return 2;
    }
    struct file file;
    struct entries entries;
    struct vrs_error err = { .message = "" };
    enum vrs_status status = file_open(argv[1], &file, &err);
    if (status == VRS_OK) {
        const struct read_options options = { .size_bytes = file.size_bytes };
        status = read_recordings(source_of_file(&file), &options, &entries, &err);
        file_close(&file);
    }
    if (status != VRS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    int result = 0;
    for (uint32_t i = 0; i < entries.list.len; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%" PRIu32, argv[2], i);
        int one = rewrite(&entries.list.at[i], path);
        result = one > result ? one : result;
    }
    entries_free(&entries);
    return result;
}
