/* repair.h - the text of a damaged event becomes JSON, for the one reader of JSON to judge.
 *
 * What is mended is only what has one meaning.  The result may still be no JSON: the event is then
 * beyond repair.
 *
 *     an escape that there is not        "C:\cuda"      "C:\\cuda"
 *     a control character                               \u0001 and the like
 *     a quote in a text                  "a "b" c"      "a \"b\" c", where quotes are guessed
 *     a comma too many                   {"a": 1,,}     {"a":1}
 *     one too few, before a key          {"a": 1 "b"    {"a":1,"b"
 *     a word that is no value            -nan(ind)      null
 *     no value                           "a": ,         "a":null,
 *     a value nested too deep            [[[[...]]]]    null
 */
#ifndef VRS_FORMAT_TRACE_REPAIR_H
#define VRS_FORMAT_TRACE_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/input/window.h"
#include "model/trace.h"

/* Where a text ends.  Guessed: the quote that ends the name of an event, or a text of its args, is
 * one behind which the object goes on or ends. */
enum quotes { QUOTES_AS_THEY_ARE, QUOTES_GUESSED };

enum { REPAIR_NESTING_MOST = 256 };

struct repair {
    struct buf text; /* the event as JSON, with WINDOW_PAD_BYTES of zeros behind it */
    struct damage found[TRACE_DAMAGES];

    struct window *window;
    enum quotes quotes;
    uint32_t depth, nesting;
    bool is_dict[REPAIR_NESTING_MOST];
    bool behind_value, behind_colon, comma; /* the last token; a comma waits for what follows it */
    bool in_name;                           /* the last key of the event was its name */
};

void repair_init(struct repair *r);
void repair_free(struct repair *r);

/* Mends the event at the window's front, which the window holds; its containers lie in each other
 * at most `nesting` deep.  The window stands behind it then.  False when that cannot be, or memory
 * ran out (`text` has failed); the window stands where that was seen. */
bool repair_event(struct repair *r, struct window *w, enum quotes quotes, uint32_t nesting);

#endif
