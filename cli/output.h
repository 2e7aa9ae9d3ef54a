/* output.h - where results go: standard output, or a file that appears only when it is whole. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output {
    int fd;
    const char *option; /* that named it */
    const char *name;   /* as the user gave it; NULL: standard output */
    bool temporary;     /* a file beside the target, to be renamed */
    int error;          /* the errno of the first failure */
};

/* From here on every signal that ends programs removes what is half-written first: an interrupt,
 * for one, then ends this one with status 130 (128 plus the signal's number), that of a crash as
 * ever. A broken pipe is an error of write. */
void output_signals(void);

/* `path` NULL or "-" is standard output; `option` is named in messages.  Returns EXIT_DONE, or says
 * why not. */
int output_open(struct output *o, const char *option, const char *path);

/* Whether `path` stands for standard output: NULL, "-". */
bool output_is_stream(const char *path);

/* Whether both name one regular file, which writing to `output` would replace. */
bool output_is_file(const char *output, const char *other);

/* Where the bytes gather until then, for who writes a file by its name; NULL where there is no such
 * file: standard output, or what cannot be replaced. */
const char *output_gathers(const struct output *o);

/* A recording is the only trace of a run that is over: it must not become its own report.  Says so
 * and returns true where `output`, given with `option`, is the file `input`; "-" and NULL are none.
 */
bool output_replaces(const char *option, const char *output, const char *input);

/* The write of a vrs_sink. */
bool output_write(void *output, const char *bytes, size_t len);

/* Puts the file in its place, or, when `whole` is false or a write failed, removes it.  Returns
 * EXIT_DONE or EXIT_FAILED, which it has explained; a reader that went away is no failure. */
int output_close(struct output *o, bool whole);

#endif
