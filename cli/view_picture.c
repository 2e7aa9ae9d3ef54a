/* view_picture.c - the picture of vramscope view: which options it takes. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "command.h"
#include "inputs.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "view.h"
#include "vramscope/snapshot.h"

bool view_is_picture(const struct view_settings *s)
{
    return s->svg || s->png;
}

/* Of a name: which of `endings` it has; `count` where none. */
static size_t ending_of(const char *name, const char *const *endings, size_t count)
{
    size_t len = strlen(name), i = 0;
    while (i < count && (len <= strlen(endings[i]) ||
                         strcasecmp(name + len - strlen(endings[i]), endings[i]) != 0))
        i++;
    return i;
}

int view_choose_format(struct view_settings *s)
{
    static const char *const others[] = { ".jpg",  ".jpeg", ".gif", ".webp", ".bmp",
                                          ".tiff", ".pdf",  ".eps", ".ps",   ".svgz" };
    enum { SVG, PNG, HTML, HTM, ENDINGS, OTHERS = sizeof others / sizeof *others };
    static const char *const endings[] = { ".svg", ".png", ".html", ".htm" };
    static const char *const kinds[] = { "an SVG", "a PNG", "a page", "a page" };
    static const char *const remedies[] = { "say --svg", "say --png", "leave out the option",
                                            "leave out the option" };
    const char *name = s->common.output;
    if (s->serve || output_is_stream(name))
        return EXIT_DONE;
    size_t named = ending_of(name, endings, ENDINGS);
    if (named == ENDINGS && ending_of(name, others, OTHERS) != OTHERS) {
        message("-o %s: a picture is an SVG or a PNG; end the name in .svg or .png", name);
        return EXIT_USAGE;
    }
    if (named == ENDINGS || (s->svg && s->png))
        return EXIT_DONE;
    if (!view_is_picture(s)) {
        s->svg = named == SVG;
        s->png = named == PNG;
        return EXIT_DONE;
    }
    size_t asked = s->svg ? SVG : PNG;
    if (named == asked)
        return EXIT_DONE;
    message("--%s writes %s, and -o %s is named as %s: name another file, or %s",
            s->svg ? "svg" : "png", kinds[asked], name, kinds[named], remedies[named]);
    return EXIT_USAGE;
}

/* "1200x480" */
static bool read_side(const char *text, char **end, uint32_t *ret)
{
    errno = 0;
    unsigned long n = *text >= '0' && *text <= '9' ? strtoul(text, end, 10) : 0;
    if (n == 0 || n > UINT32_MAX || errno != 0)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static bool read_size(const char *text, uint32_t *width, uint32_t *height)
{
    char *end = NULL;
    if (text == NULL)
        return true;
    return read_side(text, &end, width) && *end == 'x' && read_side(end + 1, &end, height) &&
           *end == '\0';
}

static struct vrs_picture_options options_of(const struct view_settings *s, const char *path)
{
    struct vrs_picture_options o = {
        COMMON_MEMBERS(o, &s->common, path),
        .format = s->svg ? VRS_SVG : VRS_PNG,
        .view = s->view,
        .by = s->by,
        .at = s->at,
        .from = s->from,
        .to = s->to,
        .dark = s->dark,
        .detail = s->detail,
        .capacity_bytes = s->capacity,
    };
    (void)read_size(s->pixels, &o.width, &o.height);
    return o;
}

const char *view_option_of_picture(const struct view_settings *s)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "--png", s->png },
        { "--svg", s->svg },
        { "--view", s->view != NULL },
        { "--by", s->by != NULL },
        { "--at", s->at != NULL },
        { "--dark", s->dark },
        { "--size", s->pixels != NULL },
        { "--detail", s->detail },
        { "--capacity", s->capacity != 0 },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

int view_check_picture(const struct view_settings *s, const struct inputs *inputs)
{
    struct vrs_error err;
    uint32_t width = 0, height = 0;
    const char *given = view_option_of_picture(s);
    if (!view_is_picture(s)) {
        if (given != NULL)
            message(
                "%s works only with a picture: add --png or --svg (the page has a control for it)",
                given);
        return given == NULL ? EXIT_DONE : EXIT_USAGE;
    }
    if (s->svg && s->png) {
        message("--svg and --png are two pictures; choose one");
        return EXIT_USAGE;
    }
    if (s->editor != NULL || s->editor_path != NULL) {
        message("%s works only with a page; a picture has no links",
                s->editor != NULL ? "--editor" : "--editor-path");
        return EXIT_USAGE;
    }
    if (s->page_most != 0) {
        message("--max-size works only with a page; --size sets the pixels of a picture");
        return EXIT_USAGE;
    }
    if (s->detail && !s->svg) {
        message("--detail works only with --svg; for a PNG use --view stack");
        return EXIT_USAGE;
    }
    if (!read_size(s->pixels, &width, &height)) {
        message("--size is pixels, as 1200x480, not \"%.40s\"", s->pixels);
        return EXIT_USAGE;
    }
    if (inputs->count > 1) {
        message("a picture shows one file, not %u; with -o NAME.html, view makes one page of them",
                (unsigned)inputs->count);
        return EXIT_USAGE;
    }
    struct vrs_picture_options o = options_of(s, NULL);
    if (vrs_picture_check(&o, &err) != VRS_OK) {
        message("%s", err.message);
        return EXIT_USAGE;
    }
    if (s->png && s->common.output != NULL && output_is_stream(s->common.output) &&
        isatty(STDOUT_FILENO)) {
        message(
            "a PNG is not for a terminal; name a file with -o, or redirect standard output to one");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static enum vrs_status write_picture(const struct pages *p, const struct vrs_sink *sink,
                                     struct vrs_error *err)
{
    struct vrs_picture_options o = options_of(p->s, p->path[0]);
    return vrs_picture(p->recording[0], &o, sink, err);
}

int view_write_picture(const struct pages *p)
{
    if (p->count > 1) {
        message("%s holds %u recordings, and a picture shows one; view makes one page of them",
                p->path[0], (unsigned)p->count);
        return EXIT_USAGE;
    }
    return view_write_file(p, p->s->svg ? ".svg" : ".png", write_picture, "");
}
