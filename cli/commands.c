/* commands.c - the table of verbs; a new one adds two lines here. */
#include <string.h>

#include "command.h"

extern const struct command cmd_report, cmd_peak, cmd_oom, cmd_leaks, cmd_fragments, cmd_steps,
    cmd_categories, cmd_advise, cmd_diff, cmd_check, cmd_view, cmd_replay, cmd_export, cmd_trace,
    cmd_diagnose, cmd_compare, cmd_run, cmd_doctor, cmd_help;

const struct command *const commands[] = {
    &cmd_report,     &cmd_peak,   &cmd_oom,      &cmd_leaks,   &cmd_fragments, &cmd_steps,
    &cmd_categories, &cmd_advise, &cmd_diff,     &cmd_check,   &cmd_view,      &cmd_replay,
    &cmd_export,     &cmd_trace,  &cmd_diagnose, &cmd_compare, &cmd_run,       &cmd_doctor,
    &cmd_help,       NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}
