/* source.c - sources over a file, memory and a caller's function. */
#include "format/source.h"

#include <string.h>

static enum vrs_status read_file(void *self, uint8_t *to, size_t len, size_t *ret,
                                 struct vrs_error *err)
{
    return file_read(self, to, len, ret, err);
}

struct source source_of_file(struct file *file)
{
    return (struct source){ read_file, file };
}

static enum vrs_status read_memory(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    (void)err;
    struct memory_bytes *bytes = self;
    size_t left = (size_t)(bytes->end - bytes->at);
    if (len > left)
        len = left;
    if (len > 0) {
        memcpy(to, bytes->at, len);
        bytes->at += len;
    }
    *ret = len;
    return VRS_OK;
}

struct source source_of_memory(struct memory_bytes *bytes)
{
    return (struct source){ read_memory, bytes };
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
    return (struct source){ read_stream, stream };
}
