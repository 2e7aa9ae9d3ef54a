/* source.c - sources over a file, memory, a part of either, and a caller's function. */
#include "format/input/source.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"

static enum vrs_status read_file(void *self, uint8_t *to, size_t len, size_t *ret,
                                 struct vrs_error *err)
{
    return file_read(self, to, len, ret, err);
}

static enum vrs_status read_file_at(void *self, uint64_t offset, uint8_t *to, size_t len,
                                    size_t *ret, struct vrs_error *err)
{
    return file_read_at(self, offset, to, len, ret, err);
}

static enum vrs_status skip_file(void *self, uint64_t len, struct vrs_error *err)
{
    return file_skip(self, len, err);
}

struct source source_of_file(struct file *file)
{
    if (file->size_bytes == UINT64_MAX)
        return (struct source){ .read = read_file, .self = file };
    return (struct source){ read_file, file, read_file_at, skip_file };
}

static enum vrs_status read_memory_at(void *self, uint64_t offset, uint8_t *to, size_t len,
                                      size_t *ret, struct vrs_error *err)
{
    (void)err;
    const struct memory_bytes *bytes = self;
    uint64_t size = (uint64_t)(bytes->end - bytes->start);
    uint64_t left = offset < size ? size - offset : 0;
    *ret = left < len ? (size_t)left : len;
    if (*ret > 0)
        memcpy(to, bytes->start + offset, *ret);
    return VRS_OK;
}

static enum vrs_status read_memory(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct memory_bytes *bytes = self;
    TRY(read_memory_at(self, bytes->read, to, len, ret, err));
    bytes->read += *ret;
    return VRS_OK;
}

static enum vrs_status skip_memory(void *self, uint64_t len, struct vrs_error *err)
{
    (void)err;
    struct memory_bytes *bytes = self;
    bytes->read += len;
    return VRS_OK;
}

struct source source_of_memory(struct memory_bytes *bytes)
{
    return (struct source){ read_memory, bytes, read_memory_at, skip_memory };
}

static enum vrs_status read_section(void *self, uint8_t *to, size_t len, size_t *ret,
                                    struct vrs_error *err)
{
    struct section *s = self;
    uint64_t left = s->end - s->at;
    *ret = 0;
    if (left == 0)
        return VRS_OK;
    TRY(s->input->read_at(s->input->self, s->at, to, left < len ? (size_t)left : len, ret, err));
    s->at += *ret;
    return VRS_OK;
}

struct source source_of_section(struct section *section)
{
    return (struct source){ .read = read_section, .self = section };
}

static enum vrs_status read_stream(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    struct stream *stream = self;
    int64_t got = stream->read(stream->arg, to, len);
    if (got < 0)
        return vrs_fail(err, VRS_IO, "the stream could not be read");
    if ((uint64_t)got > len)
        return vrs_fail(err, VRS_IO,
                        "the stream says that it gave more bytes than were asked of it");
    *ret = (size_t)got;
    return VRS_OK;
}

struct source source_of_stream(struct stream *stream)
{
    return (struct source){ .read = read_stream, .self = stream };
}
