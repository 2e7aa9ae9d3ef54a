/* agreement.h - whether what a document says of something that was measured agrees with itself.
 *
 * Numbers agree that differ by AGREEMENT_SHARE of the largest of them, which is more than any
 * printing of a double loses that keeps ten digits.  What is not said contradicts nothing. */
#ifndef VRS_FORMAT_MEASUREMENT_AGREEMENT_H
#define VRS_FORMAT_MEASUREMENT_AGREEMENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "model/measurement.h"

#define AGREEMENT_SHARE 1e-9
/* Of more values than these a document may have so many in place of all. */
enum { AGREEMENT_THINNED = 4096 };

/* What a document says of a time, in the order of size as far as there is one. */
enum stated_figure {
    STATED_LEAST,
    STATED_MEDIAN,
    STATED_P95,
    STATED_P99,
    STATED_MOST,
    STATED_MEAN,
    STATED_DEVIATION, /* of the population */
    STATED_FIGURES
};
extern const char *const stated_figure_names[STATED_FIGURES];

struct stated_time {
    struct measured_time row;
    double figure[STATED_FIGURES]; /* NAN: not known */
};

/* `sorted` are the values of the row, ascending.  False: `words` say against what the member
 * `*ret_member` stands, behind its name: "is 5, but its values give 3". */
bool stated_time_agrees(const struct stated_time *t, const double *sorted, struct buf *words,
                        const char **ret_member);

/* The same of a phase. */
bool measured_phase_agrees(const struct measured_phase *p, struct buf *words,
                           const char **ret_member);

#endif
