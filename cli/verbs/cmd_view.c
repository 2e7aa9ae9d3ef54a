/* cmd_view.c - vramscope view. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "help.h"
#include "inputs.h"
#include "message.h"
#include "terminal.h"
#include "view.h"
#include "vramscope/snapshot.h"

#define IN(member) offsetof(struct view_settings, member)

static const struct option_spec options[] = {
    { 'o', "output", "FILE",
      "write the page or picture to FILE, by the ending of its name (default: the first file's "
      "name with .html, .svg or .png, in this folder); - is standard output",
      OPTION_PATH, IN(common.output), NULL },
    { 0, "svg", NULL, "a scalable picture instead of a page: groups as areas over time",
      OPTION_FLAG, IN(svg), NULL },
    { 0, "png", NULL, "a picture in pixels instead of a page", OPTION_FLAG, IN(png), NULL },
    { 0, "view", "VIEW",
      "with a picture: groups (default), stack, every allocation, or map, by address",
      OPTION_CHOICE, IN(view), "groups stack map" },
    { 0, "by", "GROUPING",
      "with a picture: phase, or as for peak: category (default), line, owner, module, site, file, "
      "function, pool, stream, size, age, name or path",
      OPTION_CHOICE, IN(by),
      "category line culprit owner module site file function phase pool stream size age name "
      "path" },
    { 0, "at", "MOMENT",
      "with a picture: the moment whose bytes the legend shows, as for peak (default: the peak "
      "shown)",
      OPTION_TEXT, IN(at), "start end peak oom" },
    { 0, "from", "MOMENT", "the first event that the picture or page shows; of step:K its first",
      OPTION_TEXT, IN(from), "start end peak oom" },
    { 0, "to", "MOMENT", "the last event that the picture or page shows; of step:K its last",
      OPTION_TEXT, IN(to), "start end peak oom" },
    { 0, "capacity", "SIZE",
      "with a picture: a line at SIZE, with what the peak leaves of it (default: where memory ran "
      "out, the least that the card must have)",
      OPTION_SIZE, IN(capacity), NULL },
    { 0, "size", "WxH", "with a picture: pixels (default: 1200x480; higher for several devices)",
      OPTION_TEXT, IN(pixels), NULL },
    { 0, "dark", NULL, "with a picture: light on dark", OPTION_FLAG, IN(dark), NULL },
    { 0, "detail", NULL, "with --svg: every allocation, as pixels inside the picture", OPTION_FLAG,
      IN(detail), NULL },
    { 0, "serve", NULL, "write nothing; serve the pages on this machine, and print their address",
      OPTION_FLAG, IN(serve), NULL },
    { 0, "port", "NUMBER", "with --serve: this port (default: the system chooses one)", OPTION_PORT,
      IN(port), NULL },
    { 0, "device", "NUMBER", "only this device", OPTION_DEVICE, IN(common.device), NULL },
    { 0, "user-root", "FOLDER",
      "frames under FOLDER are your own code, wherever it lies; a page has the text of their "
      "lines, where the files are in FOLDER",
      OPTION_PATH, IN(common.user_root), NULL },
    { 0, "library", "GLOB", "frames whose path matches GLOB are not your own code", OPTION_TEXT,
      IN(common.library), NULL },
    { 0, "editor", "NAME",
      "frames open in vscode, vscode-insiders, cursor, zed, idea or pycharm when clicked",
      OPTION_CHOICE, IN(editor), "vscode vscode-insiders cursor zed idea pycharm" },
    { 0, "editor-path", "FROM=TO", "with --editor: replace FROM at the beginning of a path by TO",
      OPTION_TEXT, IN(editor_path), NULL },
    { 0, "max-size", "SIZE",
      "a page larger than SIZE (default 64MiB) leaves out columns that few need, then all events "
      "but those around the peak, and says so",
      OPTION_SIZE, IN(page_most), NULL },
    { 0, "threads", "COUNT",
      "use at most COUNT threads (default: the number of processors; at most 64)", OPTION_THREADS,
      IN(common.threads), NULL },
    { 0, "limit", "NAME=VALUE",
      "raise a limit on what a file may contain: nesting, string, strings, items, unpacked, frames",
      OPTION_LIMIT, IN(common.limits), "nesting= string= strings= items= unpacked= frames=" },
    { 'h', "help", NULL, "print a summary of these options", OPTION_FLAG, IN(common.help), NULL },
    { 0 },
};

static int no_memory(void)
{
    message("out of memory");
    return EXIT_FAILED;
}

static bool add(struct pages *p, const struct vrs_recording *recording, const char *path)
{
    if (p->count == p->room) {
        uint32_t room = p->room == 0 ? 8 : 2 * p->room;
        const struct vrs_recording **more = realloc(p->recording, room * sizeof(*more));
        if (more != NULL)
            p->recording = more;
        const char **names = realloc(p->path, room * sizeof(*names));
        if (names != NULL)
            p->path = names;
        if (more == NULL || names == NULL)
            return false;
        p->room = room;
    }
    p->recording[p->count] = recording;
    p->path[p->count++] = path;
    return true;
}

/* What the page says of a file, or of an entry of it, that it is without. */
static bool add_unread(struct pages *p, const char *path, const char *entry,
                       const struct vrs_error *err)
{
    enum { REASON_TEXT = 512 };
    struct vrs_unread_file *more = realloc(p->unread, (p->unreads + 1u) * sizeof(*more));
    char *why = malloc(REASON_TEXT);
    if (more != NULL)
        p->unread = more;
    if (more == NULL || why == NULL) {
        free(why);
        return false;
    }
    message_reason(why, REASON_TEXT, entry, err);
    bool piped = strcmp(path, "-") == 0;
    p->unread[p->unreads++] = (struct vrs_unread_file){ piped ? "standard input" : path, why };
    return true;
}

/* One bad file does not hide the good ones; what lies in a folder beside the recordings is none. */
static int read_one(struct pages *p, uint32_t i)
{
    const char *path = p->inputs.at[i].path;
    struct vrs_error err;
    int ended = EXIT_DONE;
    if (answer_open(&p->s->common, path, p->inputs.count == 1, &p->file[i], &err) != VRS_OK) {
        message_failure(path, &err);
        p->inputs.at[i].other = p->inputs.at[i].found && err.status == VRS_UNSUPPORTED;
        if (p->inputs.at[i].other)
            return EXIT_DONE;
        return add_unread(p, path, NULL, &err) ? failure_exit(err.status) : no_memory();
    }
    for (uint32_t k = 0; k < vrs_count(p->file[i]); k++) {
        const struct vrs_recording *recording = NULL;
        if (vrs_recording(p->file[i], k, &recording, &err) != VRS_OK) {
            message_entry_failure(path, vrs_entry_name(p->file[i], k), &err);
            if (!add_unread(p, path, vrs_entry_name(p->file[i], k), &err))
                return no_memory();
            ended = EXIT_FAILED;
        } else if (!add(p, recording, path)) {
            return no_memory();
        }
    }
    return ended;
}

static int view_all(struct pages *p)
{
    int ended = EXIT_DONE;
    p->file = calloc(p->inputs.count, sizeof(*p->file));
    if (p->file == NULL)
        return no_memory();
    progress_start("reading");
    for (uint32_t i = 0; i < p->inputs.count; i++) {
        ended = failures_exit(ended, read_one(p, i));
    }
    progress_hide();
    if (p->count > 0) {
        int written = view_is_picture(p->s) ? view_write_picture(p) : view_write_page(p);
        ended = written != EXIT_DONE ? written : ended;
    } else if (ended == EXIT_DONE)
        ended = EXIT_FAILED;
    return ended;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct view_settings settings = { 0 };
    struct pages pages = { .s = &settings };
    int files = 0, ended = EXIT_DONE;
    if (!verb_begins(self, argc, argv, &settings, &files, &ended))
        return ended;
    if (files == 0) {
        message("view needs a FILE, a folder, or - for standard input (vramscope help view)");
        return EXIT_USAGE;
    }
    if (settings.editor_path != NULL && strchr(settings.editor_path, '=') == NULL) {
        message("--editor-path takes FROM=TO, not %s", settings.editor_path);
        return EXIT_USAGE;
    }
    ended = view_choose_format(&settings);
    if (ended != EXIT_DONE)
        return ended;
    if (settings.serve || settings.port != 0)
        return view_serve(&settings, files, argv);
    ended = inputs_find(files, argv, &pages.inputs);
    if (ended != EXIT_USAGE) {
        int sound = view_check_picture(&settings, &pages.inputs);
        ended = sound != EXIT_DONE ? sound : ended;
    }
    if (ended != EXIT_USAGE && pages.inputs.count > 0) {
        int viewed = view_all(&pages);
        ended = viewed != EXIT_DONE ? viewed : ended;
    }
    for (uint32_t i = 0; pages.file != NULL && i < pages.inputs.count; i++)
        vrs_close(pages.file[i]);
    free(pages.file);
    free(pages.recording);
    free(pages.path);
    for (uint32_t i = 0; i < pages.unreads; i++)
        free((void *)(uintptr_t)pages.unread[i].why);
    free(pages.unread);
    inputs_free(&pages.inputs);
    return ended;
}

const struct command cmd_view = {
    .name = "view",
    .summary = "a page that shows every allocation, offline in any browser",
    .synopsis = "[options] FILE...",
    .about =
        "Writes one HTML file that opens from disk: no network, no server; or one picture, for\n"
        "where a page cannot go.\n"
        "\n"
        "--serve writes nothing. It prints the address of the page, on this machine alone\n"
        "and with a secret in it; several files or a folder get an index, and each page\n"
        "is made when it is opened. Ctrl-C ends it. To read a file that lies elsewhere:\n"
        "\n"
        "  there  vramscope view --serve run.pickle\n"
        "         prints http://127.0.0.1:PORT/SECRET/\n"
        "  here   ssh -L 8000:127.0.0.1:PORT HOST\n"
        "         and open http://127.0.0.1:8000/SECRET/\n"
        "\n"
        "Exit status: 0 done, 2 usage, 3 a file or the system failed, 130 interrupted,\n"
        "with --serve too.\n",
    .examples = "vramscope view run.pickle # writes run.html\n"
                "vramscope view run.pickle -o why.html # under another name\n"
                "vramscope view a.pickle b.pickle -o both.html # a beside b, in one page\n"
                "vramscope view --png run.pickle # writes run.png, for a bug report\n"
                "vramscope view --svg --by line run.pickle -o why.svg # which lines held it\n"
                "vramscope view --png --from step:2 --to step:3 run.pickle # only these steps\n"
                "vramscope view --serve ranks/ # an index, and a page of each\n",
    .options = { options },
    .run = run,
};
