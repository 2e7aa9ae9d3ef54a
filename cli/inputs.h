/* inputs.h - the files that the arguments of a verb stand for. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct input {
    char *path; /* owned; "-" is standard input */
    bool found; /* in a folder, not named by the user */
    bool other; /* it was read, and is no recording */
};

/* What lies in a folder beside the files that stand for it, but for hidden ones. */
struct left_out {
    char *path; /* owned */
    bool is_folder;
};

struct inputs {
    struct input *at;
    uint32_t count, room;
    bool several; /* more than one argument, or a folder: the answer is for a set */
    char *run;    /* run.json of the only argument, the folder of a `vramscope run`; NULL: none */
    struct left_out *left_out; /* by path, folders first */
    uint32_t left_outs;
};

/* A folder stands for the files in it whose names end like recordings, by name; other things in
 * it are left alone, and so are pages that vramscope wrote.  A file that is named twice is there
 * once, which it says.  Returns EXIT_DONE, or EXIT_FAILED or EXIT_USAGE when it has said why. */
int inputs_find(int count, char *const *names, struct inputs *ret);
/* The same for who compares one with another, which may be the same file. */
int inputs_find_pair(int count, char *const *names, struct inputs *ret);
/* By path: an answer about a set is the same in whatever order its files were named. */
void inputs_sort(struct inputs *inputs);
void inputs_free(struct inputs *inputs);
/* Names what of the folders was left out, and why; of many the first. */
void inputs_say_left_out(const struct inputs *inputs);

/* Does the operand have a name?  False when it has said that this is empty. */
bool input_is_named(const char *path);

/* Can the operand be read more than once?  A pipe is empty once it was read. */
bool input_can_be_read_again(const char *path);

/* Is the operand a folder, whose recordings are then many answers? */
bool input_is_folder(const char *path);

#endif
