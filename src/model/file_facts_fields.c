/* file_facts_fields.c - the members of a file and of a device. */
#include "model/file_facts_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/file_facts.h"
#include "model/recording.h"

static const char *const compressions[] = {
    [COMPRESSION_NONE] = "none",
    [COMPRESSION_GZIP] = "gzip",
    [COMPRESSION_ZSTD] = "zstd",
};
static const char *const wrappers[] = { [WRAPPER_NONE] = "none", [WRAPPER_HTML] = "html" };
static const char *const encodings[] = { [ENCODING_PICKLE] = "pickle", [ENCODING_JSON] = "json" };

static const struct field file_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct file_facts, path), .place = "path" },
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct file_facts, origin.size_bytes) },
    { "compression", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.compression),
      FIELD_NAMES(compressions) },
    { "wrapper", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.wrapper),
      FIELD_NAMES(wrappers) },
    { "entry", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct file_facts, entry), .place = "entry" },
    { "encoding", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.encoding),
      FIELD_NAMES(encodings) },
    { "pickle_protocol", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct file_facts, origin.pickle_protocol), .null = NULL_NEGATIVE },
    { "complete", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct file_facts, origin.complete) },
};
const struct row_type file_row_type = LINE_ROW_TYPE("file", struct file_facts, file_fields);

static bool is_host(const void *row, const void *above)
{
    const struct device_name *name = row;
    (void)above;
    return name->host;
}

static void make_host(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    (void)row;
    (void)above;
    (void)limit;
    ret->text = S("host");
}

static const struct field kind_fields[] = {
    { "kind", NULL, UNIT_NONE, FIELD_WORD, .make = make_host, .when = is_host, .optional = true,
      .place = "device.kind" },
};
const struct row_type device_kind_row_type =
    ROW_TYPE("device_kind", struct device_name, kind_fields);
