/* fuzz_rules.c - bytes as a file of category rules, which then decide over a recording. */
#include "fuzz_text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/str.h"
#include "vramscope/snapshot.h"

/* Before the built-in rules, as the API puts them. */
static void check_read(const uint8_t *data, size_t size)
{
    struct category_rules rules;
    struct vrs_error err = { .message = "" };
    category_rules_init(&rules);
    enum vrs_status status =
        category_rules_read(&rules, (str){ (const char *)data, size }, "my.rules", &err);
    if (status != VRS_OK) {
        fuzz_refused(status, &err);
        require(strncmp(err.message, "my.rules:", 9) == 0, "a refusal without a line");
    }
    uint32_t conditions = 0;
    for (uint32_t i = 0; i < rules.rule.len && status == VRS_OK; i++) {
        const struct category_rule *rule = &rules.rule.at[i];
        require(rule->first == conditions, "rules share conditions");
        require(rule->category <= CATEGORY_SPLIT && rule->confidence < CONFIDENCE_NONE,
                "a rule of no category or no confidence");
        conditions += rule->conditions;
    }
    require(status != VRS_OK || conditions == rules.condition.len, "conditions without a rule");
    category_rules_free(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_read(data, size);
    char *text = fuzz_copy(data, size);
    struct vrs_error err = { .message = "" };
    struct vrs_result *result = NULL;
    struct vrs_categories_options options = { .size = sizeof options,
                                              .rules = text,
                                              .rules_name = "my.rules" };
    enum vrs_status checked = vrs_categories_check(&options, &err);
    enum vrs_status status = vrs_categories(fuzz_recording(), &options, &result, &err);
    if (checked == VRS_OK && fuzz_took_too_long(status, &err, "rule ")) {
        free(text);
        return 0;
    }
    require(checked == status, "checked with another outcome than used");
    if (status == VRS_OK)
        fuzz_write_both(result);
    else
        fuzz_refused(status, &err);
    free(text);
    return 0;
}
