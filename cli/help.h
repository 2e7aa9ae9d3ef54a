/* help.h - --help, the OPTIONS of man pages and completions, printed from the table of verbs. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

void help_overview(FILE *out);
void help_verb(FILE *out, const struct command *command);

/* The OPTIONS section of a verb's man page, in scdoc's language. */
void help_scd(FILE *out, const struct command *command);

/* Completions for all verbs. */
void help_bash(FILE *out);
void help_zsh(FILE *out);
void help_fish(FILE *out);

/* Flushes standard output; EXIT_DONE, or EXIT_FAILED when it could not be written. */
int help_finish(void);

/* What every verb begins with: options into `settings` (which begins with struct common), or
 * --help. False where it ends with that: `*ret_exit` is then its exit status. */
bool verb_begins(const struct command *self, int argc, char **argv, void *settings,
                 int *ret_operands, int *ret_exit);

#endif
