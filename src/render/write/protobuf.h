/* protobuf.h - fields of protocol buffers, in their wire format.
 *
 * A message is the bytes of its fields one after the other; one inside another is a field of bytes.
 * So a message is written into a buffer of its own, which becomes a field of the next. */
#ifndef VRS_RENDER_WRITE_PROTOBUF_H
#define VRS_RENDER_WRITE_PROTOBUF_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Also of int64, whose bits are given, and of enum and bool. */
void proto_u64(struct buf *to, uint32_t field, uint64_t value);

/* A number without its field, for packed lists. */
void proto_number(struct buf *to, uint64_t value);

/* string and bytes. */
void proto_str(struct buf *to, uint32_t field, str value);

/* Takes what `message` holds as a field, and empties it.  Its failure becomes that of `to`. */
void proto_message(struct buf *to, uint32_t field, struct buf *message);

#endif
