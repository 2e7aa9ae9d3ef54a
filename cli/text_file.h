/* text_file.h - small files of text: limits, rules and ranks that a person wrote, the text of an
 * error. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

/* Reads all of a file (`-` is standard input), of at most 1 MiB, with a NUL behind it; to be freed.
 * Returns EXIT_DONE, or EXIT_USAGE when it has said why not; `option` is named in messages. */
int text_file_read(const char *option, const char *path, char **ret);

#endif
