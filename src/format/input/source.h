/* source.h - the places that bytes come from: a file, memory, a part of either, or a caller.
 *
 * Each is a small struct that the caller keeps for as long as the source is read. */
#ifndef VRS_FORMAT_INPUT_SOURCE_H
#define VRS_FORMAT_INPUT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "format/input/window.h"

struct source source_of_file(struct file *file);

struct memory_bytes {
    const uint8_t *start, *end;
    uint64_t read; /* of them */
};

struct source source_of_memory(struct memory_bytes *bytes);

/* What another source, which gives its bytes at any offset, has from `at` on; `at` goes on as it is
 * read. */
struct section {
    const struct source *input;
    uint64_t at, end; /* UINT64_MAX: that of the input */
};

struct source source_of_section(struct section *section);

/* `read` returns the number of bytes it gave, 0 at the end, negative on failure. */
struct stream {
    int64_t (*read)(void *arg, void *bytes, size_t len);
    void *arg;
};

struct source source_of_stream(struct stream *stream);

#endif
