/* profile_answer.c - what it is made of, and its forms. */
#include "render/profiler/profile_answer.h"

#include "profiler/profile.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"

const struct answer_kind profile_answer = {
    .verb = "profile",
    .bytes = sizeof(struct profile),
    .document = &profile_document_type,
    .form = { [ANSWER_TEXT] = profile_text,
              [ANSWER_JSON] = answer_json,
              [ANSWER_CSV] = answer_csv },
};
