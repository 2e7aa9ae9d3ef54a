/* unpack_zstd.c - frames of a zstd stream, decoded one after the other.
 *
 * Beginning of a frame (RFC 8878):
 *
 *   0  4       magic number, fd2fb528
 *   4  1       descriptor: bits 0-1 size of the dictionary id (0, 1, 2, 4 bytes), bit 5 "single
 *              segment", bits 6-7 size of the content size (0 or, if single, 1; 2, 4, 8)
 *   5  0 or 1  window: bits 3-7 exponent - 10, bits 0-2 eighths; not in a single segment
 *      0 to 4  dictionary id
 *      0 to 8  content size (of 2 bytes: less 256); it is the window in a single segment
 *
 * A skippable frame is a magic number 184d2a5x, a length of 4 bytes, and so many bytes. */
#include "format/input/unpack.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "format/input/window.h"

enum { WINDOW_LOG_MAX = 27, HEADER_BYTES_MAX = 18 };

bool zstd_is_frame(uint32_t magic)
{
    return magic == ZSTD_MAGICNUMBER;
}

bool zstd_is_skippable(uint32_t magic)
{
    return (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

bool zstd_is_legacy(uint32_t magic)
{
    return magic == 0x1eb52ffd || (magic >= 0xfd2fb522 && magic <= 0xfd2fb527);
}

static enum vrs_status zstd_init(struct unpack *u, struct vrs_error *err)
{
    ZSTD_DCtx *state = ZSTD_createDCtx();
    if (state == NULL)
        return vrs_no_memory(err);
    ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    u->state = state;
    return VRS_OK;
}

static void zstd_close(struct unpack *u)
{
    ZSTD_freeDCtx(u->state);
}

/* `size` bytes, little-endian, at `at`; 0 when they reach past `end`. */
static uint64_t load_upto_8(const uint8_t *at, const uint8_t *end, size_t size)
{
    uint64_t n = 0;
    if ((size_t)(end - at) >= size)
        for (size_t i = size; i-- > 0;)
            n = n << 8 | at[i];
    return n;
}

/* Refuses what the frame's header asks for, before libzstd sees it.  What a cut header does not
 * tell is left for libzstd to miss. */
static enum vrs_status check_header(struct unpack *u, struct vrs_error *err)
{
    struct window *w = u->packed;
    bool whole = window_need(w, HEADER_BYTES_MAX);
    if (!whole && w->end - w->at < 6)
        return VRS_OK;
    static const uint8_t id_size[4] = { 0, 1, 2, 4 }, content_size[4] = { 0, 2, 4, 8 };
    uint8_t descriptor = w->at[4];
    bool single = (descriptor & 0x20) != 0;
    const uint8_t *id_at = w->at + (single ? 5 : 6);
    size_t id_len = id_size[descriptor & 3];
    uint64_t id = load_upto_8(id_at, w->end, id_len);
    if (id != 0)
        return vrs_fail_at(err, VRS_UNSUPPORTED, window_offset(w),
                           "a zstd frame that needs dictionary %" PRIu64 "; pack it without one",
                           id);

    uint64_t window = 0;
    if (single && (size_t)(w->end - id_at) > id_len) {
        size_t len = descriptor >> 6 == 0 ? 1 : content_size[descriptor >> 6];
        window = load_upto_8(id_at + id_len, w->end, len) + (len == 2 ? 256 : 0);
    } else if (!single) {
        uint64_t base = (uint64_t)1024 << (w->at[5] >> 3);
        window = base + base / 8 * (w->at[5] & 7);
    }
    if (window > (uint64_t)1 << WINDOW_LOG_MAX)
        return vrs_fail_at(err, VRS_UNSUPPORTED, window_offset(w),
                           "a zstd frame that wants a window of %" PRIu64 " bytes, at most %u are "
                           "given; pack it with --long=27 or less",
                           window, 1u << WINDOW_LOG_MAX);
    return VRS_OK;
}

/* Drops a skippable frame; false when its end is missing. */
static bool skip_frame(struct window *w)
{
    if (!window_need(w, 8))
        return false;
    uint64_t left = (uint64_t)load_le32(w->at + 4) + 8;
    while (left > 0 && window_need(w, 1)) {
        size_t here = (size_t)(w->end - w->at);
        if (here > left)
            here = (size_t)left;
        w->at += here;
        left -= here;
    }
    return left == 0;
}

/* Whether the last bytes, fewer than a magic number has, may be the beginning of one. */
static bool is_cut_magic(struct window *w)
{
    static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd }, skippable[] = { 0x2a, 0x4d, 0x18 };
    if (window_need(w, sizeof frame))
        return false;
    size_t left = (size_t)(w->end - w->at);
    return memcmp(w->at, frame, left) == 0 ||
           ((*w->at & 0xf0) == 0x50 && memcmp(w->at + 1, skippable, left - 1) == 0);
}

static enum vrs_status next_frame(struct unpack *u, struct vrs_error *err)
{
    struct window *w = u->packed;
    while (window_need(w, 4) && zstd_is_skippable(load_le32(w->at)))
        if (!skip_frame(w))
            return unpack_end_early(u, err);
    if (!window_need(w, 1)) {
        u->ended = true;
        return window_status(w, err);
    }
    uint64_t offset = window_offset(w);
    uint32_t magic = window_need(w, 4) ? load_le32(w->at) : 0;
    if (zstd_is_frame(magic)) {
        TRY(check_header(u, err));
        u->begun = u->inside = true;
        u->wanted = ZSTD_initDStream(u->state);
        return VRS_OK;
    }
    if (zstd_is_legacy(magic))
        return vrs_fail_at(err, VRS_UNSUPPORTED, offset,
                           "a frame in a format from before zstd 0.8; unpack it with a zstd that "
                           "still reads it");
    if (!unpack_skip_zeros(u)) {
        u->ended = true;
        return window_status(w, err);
    }
    bool is_cut = is_cut_magic(w);
    TRY(window_status(w, err));
    if (is_cut)
        return unpack_end_early(u, err);
    if (u->lenient && u->begun)
        return unpack_drop_junk(u, err);
    return vrs_fail_at(err, VRS_CORRUPT, offset,
                       "damaged zstd data: no frame begins here (offset in the packed bytes)");
}

static enum vrs_status zstd_step(struct unpack *u, uint8_t *to, size_t len, size_t *ret,
                                 struct vrs_error *err)
{
    if (!u->inside)
        TRY(next_frame(u, err));
    if (u->ended)
        return VRS_OK;

    /* Not more than to the end of a block: a failure then names the block, and a block that is
     * contiguous is decoded without a copy.  Without input too: output may still be inside. */
    struct window *w = u->packed;
    bool input = window_need(w, u->wanted < WINDOW_BYTES ? u->wanted : WINDOW_BYTES);
    size_t here = (size_t)(w->end - w->at);
    input = input || here > 0;
    ZSTD_inBuffer in = { w->at, here < u->wanted ? here : u->wanted, 0 };
    ZSTD_outBuffer out = { to, len, 0 };
    size_t code = ZSTD_decompressStream(u->state, &out, &in);
    if (u->lenient && ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong) {
        /* It is read alone, behind all data of its frame, which were given. */
        unpack_wrong_checksum(u, window_offset(w));
        w->at += in.size;
        u->inside = false;
        return VRS_OK;
    }
    if (ZSTD_isError(code)) {
        if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
            return vrs_no_memory(err);
        return unpack_fail_data(u, ZSTD_getErrorName(code), "", err);
    }
    w->at += in.pos;
    *ret = out.pos;
    if (code == 0)
        u->inside = false;
    else if (!input && out.pos == 0)
        return unpack_end_early(u, err);
    u->wanted = code;
    return VRS_OK;
}

const struct unpack_codec zstd_codec = { "zstd", zstd_init, zstd_step, zstd_close, 2000 };
