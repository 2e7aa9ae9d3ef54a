/* read_measurement.c - the way from an input to a measurement: unpack, look what it is, read. */
#include "format/read_measurement.h"

#include <stdint.h>

#include "base/fail.h"
#include "format/detect.h"
#include "format/input/unpack.h"
#include "format/input/window.h"
#include "format/measurement/from_json.h"
#include "model/measurement.h"
#include "model/recording.h"

static enum vrs_status read_unpacked(struct window *w, const struct limits *limits,
                                     struct measurement *ret, struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form == FORM_OTHER)
        return detect_refuse(w, WANTED_MEASUREMENT, err);
    if (form != FORM_JSON)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "no measurement, since it is not JSON; json() of what "
                        "vramscope.measure_training() gives is one");
    return measurement_from_json(w, limits, ret, err);
}

static enum vrs_status read_packed(struct window *packed, enum compression compression,
                                   const struct limits *limits, struct measurement *ret,
                                   struct vrs_error *err)
{
    struct unpack u;
    struct window w;
    uint64_t finished = 0;
    TRY(unpack_init(&u, packed, compression, limits, &finished, err));
    enum vrs_status status = window_init(&w, source_of_unpack(&u), err);
    if (status == VRS_OK) {
        status = read_unpacked(&w, limits, ret, err);
        window_free(&w);
    }
    unpack_free(&u);
    return status;
}

static enum vrs_status read_window(struct window *w, const struct limits *limits,
                                   struct measurement *ret, struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form == FORM_GZIP || form == FORM_ZSTD)
        return read_packed(w, form == FORM_GZIP ? COMPRESSION_GZIP : COMPRESSION_ZSTD, limits, ret,
                           err);
    return read_unpacked(w, limits, ret, err);
}

enum vrs_status read_measurement(struct source input, const struct limits *limits,
                                 struct measurement *ret, struct vrs_error *err)
{
    struct window w;
    TRY(window_init(&w, input, err));
    measurement_init(ret);
    enum vrs_status status = read_window(&w, limits, ret, err);
    window_free(&w);
    if (status != VRS_OK)
        measurement_free(ret);
    return status;
}
