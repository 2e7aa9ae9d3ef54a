/* unpack_gzip.c - members of a gzip stream, inflated one after the other. */
#define ZLIB_CONST
#include "format/input/unpack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zlib.h>

#include "base/fail.h"
#include "base/vec.h"
#include "format/input/window.h"

static enum vrs_status gzip_init(struct unpack *u, struct vrs_error *err)
{
    void *state = NULL;
    if (!vec_resize(&state, 1, sizeof(z_stream)))
        return vrs_no_memory(err);
    z_stream *z = state;
    *z = (z_stream){ .zalloc = vec_lend, .zfree = vec_give_back };
    /* 15: the largest window there is; + 16: gzip, not zlib. */
    if (inflateInit2(z, 15 + 16) != Z_OK) {
        vec_resize(&state, 0, 0);
        return vrs_no_memory(err);
    }
    u->state = state;
    return VRS_OK;
}

static void gzip_close(struct unpack *u)
{
    inflateEnd(u->state);
    vec_resize(&u->state, 0, 0);
}

/* Stands behind a member: another one, padding, or something that is no part of it. */
static enum vrs_status next_member(struct unpack *u, struct vrs_error *err)
{
    struct window *w = u->packed;
    if (!u->begun) {
        u->begun = u->inside = true;
        return VRS_OK;
    }
    if (!unpack_skip_zeros(u)) {
        u->ended = true;
        return window_status(w, err);
    }
    if (!window_need(w, 2) && *w->at == 0x1f)
        return unpack_end_early(u, err);
    if (window_need(w, 2) && w->at[0] == 0x1f && w->at[1] == 0x8b) {
        u->inside = true;
        inflateReset(u->state);
        return VRS_OK;
    }
    return unpack_drop_junk(u, err);
}

/* Which of the two numbers behind the data of a member is wrong, by zlib's words; NOT_CHECKED:
 * something else. */
enum check { NOT_CHECKED, CHECK_DATA, CHECK_LENGTH };

static enum check failed_check(const z_stream *z)
{
    const char *words = z->msg != NULL ? z->msg : "";
    if (strcmp(words, "incorrect data check") == 0)
        return CHECK_DATA;
    return strcmp(words, "incorrect length check") == 0 ? CHECK_LENGTH : NOT_CHECKED;
}

/* Goes on behind a member, all of which was given, though one of its last two numbers is wrong. */
static enum vrs_status pass_check(struct unpack *u, enum check check, struct vrs_error *err)
{
    enum { NUMBER_BYTES = 4 };
    struct window *w = u->packed;
    unpack_wrong_checksum(u, window_offset(w) - NUMBER_BYTES);
    u->inside = false;
    if (check == CHECK_LENGTH)
        return VRS_OK;
    if (!window_need(w, NUMBER_BYTES))
        return unpack_end_early(u, err);
    w->at += NUMBER_BYTES;
    return VRS_OK;
}

static enum vrs_status gzip_step(struct unpack *u, uint8_t *to, size_t len, size_t *ret,
                                 struct vrs_error *err)
{
    if (!u->inside)
        TRY(next_member(u, err));
    if (u->ended)
        return VRS_OK;

    struct window *w = u->packed;
    z_stream *z = u->state;
    /* Without input too: the last of the output may still be inside. */
    bool input = window_need(w, 1);
    z->next_in = w->at;
    z->avail_in = (uInt)(w->end - w->at);
    z->next_out = to;
    z->avail_out = len < WINDOW_BYTES ? (uInt)len : WINDOW_BYTES;
    int code = inflate(z, Z_NO_FLUSH);
    w->at = z->next_in;
    *ret = (size_t)(z->next_out - to);
    if (code == Z_STREAM_END)
        u->inside = false;
    else if (code == Z_MEM_ERROR)
        return vrs_no_memory(err);
    else if (code == Z_BUF_ERROR && !input && *ret == 0)
        return unpack_end_early(u, err);
    else if (code == Z_DATA_ERROR && *ret == 0 && u->lenient && failed_check(z) != NOT_CHECKED)
        return pass_check(u, failed_check(z), err);
    /* What came before damage is given first, in whatever portions the input comes; the next call
     * finds the damage again. */
    else if (code != Z_OK && *ret == 0)
        return unpack_fail_data(u, z->msg != NULL ? z->msg : "no stream",
                                "; `gzip -dc` gives what can still be read, if anything", err);
    return VRS_OK;
}

const struct unpack_codec gzip_codec = { "gzip", gzip_init, gzip_step, gzip_close, 400 };
