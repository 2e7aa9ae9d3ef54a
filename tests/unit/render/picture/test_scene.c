#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/answered.h"
#include "made/fault.h"
#include "vramscope/snapshot.h"

static const char *text;
static struct vrs_picture_options options;
static struct written picture;

static enum vrs_status write_picture(void *arg)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *r = NULL;
    struct vrs_sink sink = written_sink(&picture);
    (void)arg;
    picture.len = 0;
    enum vrs_status status = vrs_open_bytes(text, strlen(text), "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &r, NULL);
    if (status == VRS_OK)
        status = vrs_picture(r, &options, &sink, NULL);
    vrs_close(file);
    return status;
}

static void picture_is_whole(void *arg)
{
    const struct written *whole = arg;
    assert_int_equal(picture.len, whole->len);
    assert_memory_equal(picture.at, whole->at, whole->len);
}

static void check_faults(struct vrs_picture_options o)
{
    static struct written whole;
    o.size = sizeof o;
    o.width = 480;
    o.height = 200;
    options = o;
    text = recording_of_steps("train.py");
    assert_int_equal(write_picture(NULL), VRS_OK);
    assert_true(picture.len > 1000);
    whole = picture;
    fault_each(write_picture, picture_is_whole, &whole);
}

static void every_allocation_of_a_png_may_fail(void **state)
{
    (void)state;
    check_faults((struct vrs_picture_options){ .format = VRS_PNG, .by = "site" });
    check_faults((struct vrs_picture_options){ .format = VRS_PNG, .view = "map" });
}

static void every_allocation_of_an_svg_may_fail(void **state)
{
    (void)state;
    check_faults((struct vrs_picture_options){ .format = VRS_SVG, .by = "size" });
    check_faults((struct vrs_picture_options){ .format = VRS_SVG, .detail = true });
}

static void check_refused(struct vrs_picture_options o)
{
    struct vrs_error err;
    o.size = sizeof o;
    assert_int_equal(vrs_picture_check(&o, &err), VRS_USAGE);
    assert_true(err.message[0] != '\0');
}

static void words_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_int_equal(vrs_picture_check(NULL, NULL), VRS_OK);
    check_refused((struct vrs_picture_options){ .view = "pie" });
    check_refused((struct vrs_picture_options){ .by = "colour" });
    check_refused((struct vrs_picture_options){ .at = "noon" });
    check_refused((struct vrs_picture_options){ .width = 100 });
    check_refused((struct vrs_picture_options){ .detail = true, .format = VRS_PNG });
    check_refused((struct vrs_picture_options){ .detail = true, .view = "map" });
    check_refused((struct vrs_picture_options){ .capacity_bytes = 1, .view = "map" });
    check_refused((struct vrs_picture_options){ .format = (enum vrs_picture_format)7 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_png_may_fail),
        cmocka_unit_test(every_allocation_of_an_svg_may_fail),
        cmocka_unit_test(words_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
