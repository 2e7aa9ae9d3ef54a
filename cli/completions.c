/* completions.c - what the shells complete, printed from the table of verbs. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "help.h"
#include "options.h"

static void put_verbs(FILE *out)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", commands[i]->name);
}

static void put_bash_options(FILE *out, const struct command *command)
{
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++)
        fprintf(out, "%s--%s%s", i == 0 ? "" : " ", spec->name, spec->argument == NULL ? "" : "=");
}

/* Values of an option are completed where the word is "--name=" or behind "--name ". */
static void put_bash_choices(FILE *out, const struct command *command)
{
    const struct option_spec *spec;
    for (size_t i = 0; (spec = option_at(command, i)) != NULL; i++) {
        if (spec->choices != NULL)
            fprintf(out, "    %s:--%s) words='%s' ;;\n", command->name, spec->name, spec->choices);
    }
}

void help_bash(FILE *out)
{
    fputs("# bash completion of vramscope; printed by `vramscope help --as=bash`\n"
          "_vramscope()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local verb=${COMP_WORDS[1]} words=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='",
          out);
    put_verbs(out);
    fputs("'\n"
          "        [[ $word == -* ]] && words='--help --version'\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        return\n    fi\n"
          "    # \"=\" is a word of its own to bash\n"
          "    [ \"$word\" = = ] && word=\n"
          "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    case $verb:$before in\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++)
        put_bash_choices(out, commands[i]);
    fputs("    help:help) words='", out);
    put_verbs(out);
    fputs("' ;;\n    esac\n    case $verb:$word in\n", out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "    %s:-*) words='", commands[i]->name);
        put_bash_options(out, commands[i]);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
          "    return 0\n"
          "}\n"
          "complete -o bashdefault -o default -F _vramscope vramscope\n",
          out);
}

/* Text inside single quotes of a shell, where zsh's own marks are escaped too. */
static void put_quoted(FILE *out, const char *text, const char *escaped)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr(escaped, *text) != NULL)
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_zsh_option(FILE *out, const struct option_spec *spec)
{
    fputs("            '", out);
    if (spec->letter != 0)
        fprintf(out, "(-%c --%s)'{-%c,--%s%s}'", spec->letter, spec->name, spec->letter, spec->name,
                spec->argument == NULL ? "" : "=");
    else
        fprintf(out, "%s--%s%s", spec->kind == OPTION_LIST || spec->kind == OPTION_PAIR ? "*" : "",
                spec->name, spec->argument == NULL ? "" : "=");
    fputc('[', out);
    put_quoted(out, spec->help, "[]:");
    fputc(']', out);
    if (spec->argument != NULL) {
        fprintf(out, ":%s:", spec->argument);
        if (spec->choices != NULL)
            fprintf(out, "(%s)", spec->choices);
        else if (spec->kind == OPTION_PATH)
            fputs("_files", out);
    }
    fputs("' \\\n", out);
}

void help_zsh(FILE *out)
{
    fputs("#compdef vramscope\n"
          "# zsh completion of vramscope; printed by `vramscope help --as=zsh`\n"
          "_vramscope()\n{\n"
          "    local -a verbs=(\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "        '%s:", commands[i]->name);
        put_quoted(out, commands[i]->summary, ":");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        [[ $PREFIX == -* ]] && compadd -- --help --version\n"
          "        _describe verb verbs\n"
          "        return\n"
          "    fi\n"
          "    case $words[2] in\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "    %s)\n        _arguments -s \\\n", commands[i]->name);
        const struct option_spec *spec;
        for (size_t k = 0; (spec = option_at(commands[i], k)) != NULL; k++)
            put_zsh_option(out, spec);
        fprintf(out, "            %s ;;\n",
                strcmp(commands[i]->name, "help") == 0 ? "'*:verb:(${verbs%%:*})'"
                                                       : "'*:file:_files'");
    }
    fputs("    esac\n}\n_vramscope \"$@\"\n", out);
}

static void put_fish_option(FILE *out, const struct command *command,
                            const struct option_spec *spec)
{
    fprintf(out, "complete -c vramscope -n '__fish_seen_subcommand_from %s'", command->name);
    if (spec->letter != 0)
        fprintf(out, " -s %c", spec->letter);
    fprintf(out, " -l %s", spec->name);
    if (spec->choices != NULL)
        fprintf(out, " -x -a '%s'", spec->choices);
    else if (spec->argument != NULL)
        fputs(" -r", out);
    fputs(" -d '", out);
    put_quoted(out, spec->help, "");
    fputs("'\n", out);
}

void help_fish(FILE *out)
{
    fputs("# fish completion of vramscope; printed by `vramscope help --as=fish`\n", out);
    fputs("complete -c vramscope -n __fish_use_subcommand -l help -d 'how to use vramscope'\n"
          "complete -c vramscope -n __fish_use_subcommand -l version -d 'print the version'\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "complete -c vramscope -f -n __fish_use_subcommand -a %s -d '",
                commands[i]->name);
        put_quoted(out, commands[i]->summary, "");
        fputs("'\n", out);
        const struct option_spec *spec;
        for (size_t k = 0; (spec = option_at(commands[i], k)) != NULL; k++)
            put_fish_option(out, commands[i], spec);
    }
    fputs("complete -c vramscope -f -n '__fish_seen_subcommand_from help' -a '", out);
    put_verbs(out);
    fputs("'\n", out);
}
