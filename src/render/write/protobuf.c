/* protobuf.c - varints (seven bits a byte) and fields with their lengths. */
#include "render/write/protobuf.h"

#include <stdint.h>

#include "base/str.h"

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

void proto_number(struct buf *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_char(to, (char)((value & 0x7f) | 0x80));
    buf_char(to, (char)value);
}

void proto_u64(struct buf *to, uint32_t field, uint64_t value)
{
    proto_number(to, (uint64_t)field << 3 | WIRE_NUMBER);
    proto_number(to, value);
}

void proto_str(struct buf *to, uint32_t field, str value)
{
    proto_number(to, (uint64_t)field << 3 | WIRE_BYTES);
    proto_number(to, value.len);
    buf_str(to, value);
}

void proto_message(struct buf *to, uint32_t field, struct buf *message)
{
    proto_str(to, field, buf_slice(message));
    to->failed = to->failed || message->failed;
    message->len = 0;
}
