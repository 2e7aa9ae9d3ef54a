/* human.h - numbers as people read them; exact ones are in the JSON. */
#ifndef VRS_RENDER_WRITE_HUMAN_H
#define VRS_RENDER_WRITE_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* How text looks: columns of the terminal, ANSI colours, nothing outside ASCII. */
struct style {
    uint32_t width;
    bool colour, ascii;
    int64_t device; /* its number plus 1, which commands to type keep to; 0: all devices */
};

/* "512 B", "1.00 KiB", "62.31 GiB", up to EiB; half to even. */
void human_bytes(struct buf *to, int64_t bytes);

/* "-" for UINT64_MAX. */
void human_known_bytes(struct buf *to, uint64_t bytes);

/* "48 120", with a narrow blank (a comma in ASCII).  Event numbers are printed without: they are
 * names, to be typed again. */
void human_count(struct buf *to, uint64_t count, bool ascii);

/* "1 event", "48 120 events": the count and what it is of, where an s makes several of `one` (and
 * es of one that ends with s). */
void human_counted(struct buf *to, uint64_t count, const char *one, bool ascii);

/* "50.1 %"; "-" where the ratio is negative. */
void human_share(struct buf *to, double ratio);

/* The ratio for human_share; negative where there is no whole. */
double share_ratio(uint64_t part, uint64_t whole);

/* "850 us", "12.3 ms", "4.21 s", "3 min 05 s", "2 h 07 min" */
void human_duration(struct buf *to, uint64_t us);
/* The same of nanoseconds: "850 ns", "1.23 us", "12.3 ms", and from a second on as above. */
void human_ns(struct buf *to, uint64_t ns);

enum paint { PAINT_BOLD, PAINT_DIM, PAINT_GOOD, PAINT_BAD, PAINT_USED };

/* The escape sequences around coloured text; nothing when colour is off. */
void paint_on(struct buf *to, const struct style *style, enum paint paint);
void paint_off(struct buf *to, const struct style *style);

#endif
