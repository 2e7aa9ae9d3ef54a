/* unpack.c - the source over a codec, with the limits on what it gives. */
#include "format/input/unpack.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* A bomb is a run of this many unpacked bytes that came out of bomb_ratio times fewer packed ones
 * without one finished record.  Real snapshots pack 6 to 31 times; deflate cannot pass 1,032, zstd
 * can reach 32,768. */
enum { BOMB_BYTES = 64 << 20 };

enum vrs_status unpack_init(struct unpack *u, struct window *packed, enum compression compression,
                            const struct limits *limits, const uint64_t *finished_records,
                            struct vrs_error *err)
{
    *u = (struct unpack){
        .codec = compression == COMPRESSION_GZIP ? &gzip_codec : &zstd_codec,
        .packed = packed,
        .limits = limits,
        .finished_records = finished_records,
        .run_records = *finished_records,
        .run_packed = window_offset(packed),
    };
    return u->codec->init(u, err);
}

void unpack_free(struct unpack *u)
{
    if (u->state != NULL)
        u->codec->close(u);
    u->state = NULL;
}

enum vrs_status unpack_end_early(struct unpack *u, struct vrs_error *err)
{
    const struct window *w = u->packed;
    TRY(window_status(w, err));
    u->ended = u->cut = true;
    u->cut_at = window_offset(w) + (uint64_t)(w->end - w->at);
    return VRS_OK;
}

enum vrs_status unpack_fail_data(struct unpack *u, const char *why, const char *remedy,
                                 struct vrs_error *err)
{
    uint64_t offset = window_offset(u->packed);
    if (u->lenient && u->given_bytes > 0) {
        u->ended = u->cut = u->damaged = true;
        u->cut_at = offset;
        return VRS_OK;
    }
    return vrs_fail_at(err, VRS_CORRUPT, offset,
                       "damaged %s data: %s (offset in the packed bytes)%s", u->codec->name, why,
                       remedy);
}

enum vrs_status unpack_fail_cut(const struct unpack *u, const char *before, struct vrs_error *err)
{
    if (u->damaged)
        return vrs_fail_at(err, VRS_CORRUPT, u->cut_at,
                           "the %s data is damaged before %s (offset in the packed bytes); copy "
                           "the file once more, or record it again",
                           u->codec->name, before);
    return vrs_fail_at(err, VRS_CORRUPT, u->cut_at,
                       "the %s stream ends early, before %s (offset in the packed bytes); copy the "
                       "file once more, or record it again",
                       u->codec->name, before);
}

bool unpack_skip_zeros(struct unpack *u)
{
    struct window *w = u->packed;
    while (window_need(w, 1)) {
        while (w->at < w->end && *w->at == 0)
            w->at++;
        if (w->at < w->end)
            return true;
    }
    return false;
}

enum vrs_status unpack_drop_junk(struct unpack *u, struct vrs_error *err)
{
    struct window *w = u->packed;
    u->junk_at = window_offset(w);
    while (window_need(w, 1))
        w->at = w->end;
    u->junk_bytes = window_offset(w) - u->junk_at;
    u->ended = true;
    return window_status(w, err);
}

void unpack_wrong_checksum(struct unpack *u, uint64_t offset)
{
    if (u->wrong_checksums++ == 0)
        u->wrong_at = offset;
}

enum vrs_status unpack_guard(struct unpack *u, size_t given, uint64_t packed, struct vrs_error *err)
{
    u->given_bytes += given;
    if (u->given_bytes > u->limits->unpacked_bytes)
        return vrs_fail_at(err, VRS_LIMIT, packed,
                           "unpacks to more than %" PRIu64
                           " bytes; `--limit unpacked=BYTES` allows "
                           "more (offset in the packed bytes)",
                           u->limits->unpacked_bytes);
    u->run_given += given;
    bool long_run = u->run_given >= BOMB_BYTES;
    bool records = *u->finished_records != u->run_records;
    if (long_run && !records && u->run_given / u->codec->bomb_ratio > packed - u->run_packed)
        return vrs_fail_at(err, VRS_LIMIT, packed,
                           "%" PRIu64 " bytes unpack to %" PRIu64
                           " without one record; this is not "
                           "a memory snapshot (offset in the packed bytes)",
                           packed - u->run_packed, u->run_given);
    if (long_run || records) {
        u->run_records = *u->finished_records;
        u->run_given = 0;
        u->run_packed = packed;
    }
    return VRS_OK;
}

enum vrs_status unpack_some(struct unpack *u, uint8_t *to, size_t len, size_t *ret,
                            struct vrs_error *err)
{
    size_t given = 0;
    while (given == 0 && !u->ended)
        TRY(u->codec->step(u, to, len, &given, err));
    *ret = given;
    return VRS_OK;
}

static enum vrs_status read_unpacked(void *self, uint8_t *to, size_t len, size_t *ret,
                                     struct vrs_error *err)
{
    struct unpack *u = self;
    size_t given;
    TRY(unpack_some(u, to, len, &given, err));
    TRY(unpack_guard(u, given, window_offset(u->packed), err));
    *ret = given;
    return VRS_OK;
}

struct source source_of_unpack(struct unpack *u)
{
    return (struct source){ .read = read_unpacked, .self = u };
}
