/* sarif.c - writes messages and references of SARIF. */
#include "render/write/sarif.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/json.h"

const char sarif_schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

static void sarif_message(struct buf *to, str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '[' || c == ']' || c == '\\')
            buf_char(to, '\\');
        if (c == '{' || c == '}')
            buf_char(to, c);
        buf_char(to, c);
    }
}

static void sarif_uri(struct buf *to, str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '\\')
            c = '/';
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '/' || c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            buf_char(to, c);
        else
            buf_format(to, "%%%02X", (unsigned)(unsigned char)c);
    }
}

void sarif_verdict(struct json *j, bool failed, str words)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    sarif_message(&text, words);
    json_text(j, "kind", failed ? "fail" : "open");
    json_text(j, "level", failed ? "error" : "none");
    json_line_object(j, "message");
    json_str(j, "text", buf_slice(&text));
    json_close(j);
    buf_end(&text, j->out);
}

void sarif_location(struct json *j, str path, uint64_t line)
{
    struct buf uri;
    buf_init(&uri, SIZE_MAX / 2);
    sarif_uri(&uri, path);
    json_array(j, "locations");
    json_object(j, NULL);
    json_object(j, "physicalLocation");
    json_line_object(j, "artifactLocation");
    json_str(j, "uri", buf_slice(&uri));
    json_close(j);
    if (line > 0) {
        json_line_object(j, "region");
        json_u64(j, "startLine", line);
        json_close(j);
    }
    json_close(j);
    json_close(j);
    json_close(j);
    buf_end(&uri, j->out);
}

void sarif_fingerprint(struct json *j, str place, str name)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_str(&text, place);
    buf_text(&text, ": ");
    buf_str(&text, name);
    json_line_object(j, "partialFingerprints");
    json_str(j, "recordingAndLimit/v1", buf_slice(&text));
    json_close(j);
    buf_end(&text, j->out);
}
