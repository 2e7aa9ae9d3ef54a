/* unpack.h - a source that decompresses another one.
 *
 * gzip: all members, one after the other; zero bytes behind the last are padding, and anything
 * else there is counted in `junk_bytes`.  zstd: all frames; skippable frames are dropped as they
 * are read; dictionaries, windows above 128 MiB and the formats from before 0.8 are refused.
 *
 * Memory is bounded by the window that the packed stream may ask for.  Damage is VRS_CORRUPT with
 * its offset in the packed bytes.  Where the packed bytes end too early, what they hold is given,
 * then an end, and `cut` is set.  To a reader that is `lenient` a wrong checksum is no failure: it
 * is counted, as all bytes that it is of were given; nor is anything behind the last zstd frame.
 * Damage of the data, too, is then an end that comes too early, where some bytes were given. */
#ifndef VRS_FORMAT_INPUT_UNPACK_H
#define VRS_FORMAT_INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/recording.h"

struct unpack;

/* One compression.  `step` gives 0 to `len` bytes and sets `ended` behind the last. */
struct unpack_codec {
    const char *name; /* of the stream, for people */
    enum vrs_status (*init)(struct unpack *u, struct vrs_error *err);
    enum vrs_status (*step)(struct unpack *u, uint8_t *to, size_t len, size_t *ret,
                            struct vrs_error *err);
    void (*close)(struct unpack *u);
    uint32_t bomb_ratio; /* no recording packs better, see unpack.c */
};

extern const struct unpack_codec gzip_codec, zstd_codec;

struct unpack {
    const struct unpack_codec *codec;
    struct window *packed;
    const struct limits *limits;
    void *state;     /* of zlib or libzstd */
    size_t wanted;   /* zstd: packed bytes to the end of the block */
    bool inside;     /* a member or frame has begun and not ended */
    bool begun;      /* the first one has begun */
    bool ended, cut; /* there is no more; and that was too early */
    bool damaged;    /* cut, since what comes cannot be unpacked */
    bool lenient;    /* set by the reader before the first byte */

    uint64_t given_bytes; /* unpacked */
    uint64_t junk_bytes;  /* from the first that is not zero behind the last member or frame on */
    uint64_t wrong_checksums;
    /* In the packed bytes: where they end too early, where junk begins, the first wrong
     * checksum. */
    uint64_t cut_at, junk_at, wrong_at;

    /* The run of unpacked bytes during which no record was finished. */
    const uint64_t *finished_records;
    uint64_t run_records, run_given, run_packed;
};

/* `packed` stands at the magic number.  `*finished_records` is what the reader of the unpacked
 * bytes counts: 64 MiB at a ratio above 2,000 without one more is VRS_LIMIT. */
enum vrs_status unpack_init(struct unpack *u, struct window *packed, enum compression compression,
                            const struct limits *limits, const uint64_t *finished_records,
                            struct vrs_error *err) MUST_CHECK;
void unpack_free(struct unpack *u);

struct source source_of_unpack(struct unpack *u);

/* What a read of that source is made of, for who unpacks ahead: 1 to `len` bytes, or 0 at the end;
 * then, on the thread that counts the records, the limits on `given` bytes up to the offset
 * `packed` in the packed ones. */
enum vrs_status unpack_some(struct unpack *u, uint8_t *to, size_t len, size_t *ret,
                            struct vrs_error *err) MUST_CHECK;
enum vrs_status unpack_guard(struct unpack *u, size_t given, uint64_t packed,
                             struct vrs_error *err) MUST_CHECK;

/* For codecs: the packed bytes end inside a member or frame, or their source failed. */
enum vrs_status unpack_end_early(struct unpack *u, struct vrs_error *err) MUST_CHECK;

/* Likewise: what comes cannot be unpacked, for the reason `why`; `remedy` may be empty. */
enum vrs_status unpack_fail_data(struct unpack *u, const char *why, const char *remedy,
                                 struct vrs_error *err) MUST_CHECK;

/* Likewise: stands at the next packed byte that is not zero; false where there is none. */
bool unpack_skip_zeros(struct unpack *u);
/* Likewise: what is left is no part of the stream. */
enum vrs_status unpack_drop_junk(struct unpack *u, struct vrs_error *err) MUST_CHECK;
/* Likewise: a checksum that stands at this offset in the packed bytes is wrong. */
void unpack_wrong_checksum(struct unpack *u, uint64_t offset);

/* For readers: fails with VRS_CORRUPT, since the stream, which is `cut`, ends before what they
 * need. */
enum vrs_status unpack_fail_cut(const struct unpack *u, const char *before,
                                struct vrs_error *err) MUST_CHECK;

/* The magic numbers of a frame, of a skippable frame, of the formats from before zstd 0.8. */
bool zstd_is_frame(uint32_t magic);
bool zstd_is_skippable(uint32_t magic);
bool zstd_is_legacy(uint32_t magic);

#endif
