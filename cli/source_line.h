/* source_line.h - one line of a source file, from below one folder alone. */
#ifndef CLI_SOURCE_LINE_H
#define CLI_SOURCE_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Writes line `line` of `file`, without the blanks before it and without its end, into `to`, or its
 * first `room` bytes, and returns how many; 0: it has no text, or there is no such file.
 *
 * `file` is a name out of a recording, which nobody has to trust: it is looked for as it is, by its
 * part behind the name of `folder`, and, where it is relative, in `folder`.  Nothing is asked of
 * the disk but for paths that begin with `folder`, as it is named or with its links followed, and
 * whose ".." do not lead out of it; what is found counts only where it is a regular file that lies
 * in `folder` when all links are followed.  No more than 4 MiB of it are read. */
size_t source_line_read(const char *folder, const char *file, uint32_t line, char *to, size_t room);

/* What stands in `file` behind the path of a folder; NULL where it does not begin with that. */
const char *source_line_behind(const char *folder, const char *file);

#endif
