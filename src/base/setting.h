/* setting.h - text files of lines "NAME = VALUE", each with a comment behind a "#". */
#ifndef VRS_BASE_SETTING_H
#define VRS_BASE_SETTING_H

#include "base/fail.h"
#include "base/str.h"

/* Takes one line, the `line`-th of its file from 1; the value is empty where there is none. */
typedef enum vrs_status setting_taker(void *arg, unsigned line, str name, str value,
                                      struct vrs_error *err);

/* Gives each line that is neither blank nor a comment alone to `take`.  A failure of usage names
 * the file, without its folder where it is long, and the line. */
enum vrs_status settings_read(str file, str text, setting_taker *take, void *arg,
                              struct vrs_error *err) MUST_CHECK;

/* Without the blanks, and the end of a line of Windows, around it. */
str setting_trimmed(str text);

#endif
