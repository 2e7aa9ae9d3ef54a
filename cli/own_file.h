/* own_file.h - whether a file was written by this program. */
#ifndef CLI_OWN_FILE_H
#define CLI_OWN_FILE_H

#include <stdbool.h>

/* Whether a file is a page or a picture of `vramscope view`; one that cannot be read is not. */
bool own_file(const char *path);

#endif
