/* site.h - sites: which stacks are one place in the program, under keys K0 to K3. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_SITE_H
#define VRS_ANALYSIS_ATTRIBUTION_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/vec.h"
#include "model/code.h"

/* What makes two stacks one site: K0 to K3 of the command line. */
enum site_key {
    SITE_EXACT,            /* all of both */
    SITE_LINE,             /* file, line, function */
    SITE_FUNCTION_IN_FILE, /* file, function */
    SITE_FUNCTION          /* function */
};

/* Reduces stacks under one key to ids: equal ids are one site.  SITE_EXACT keeps stacks as they
 * are; the others drop native frames, module calls and repeats of the frame just before. */
struct sites {
    const struct code *code;
    const struct naming *naming;
    enum site_key key;
    struct strings bases;    /* base names of files */
    struct frames frames;    /* as the key sees them */
    struct stacks stacks;    /* reduced */
    uint32_t *reduced;       /* of a stack, plus 1; 0: not yet asked */
    uint32_t *reduced_frame; /* of a frame, the same */
    VEC(uint32_t) chain;     /* scratch: the stacks of a walk */
};

/* `scratch` must outlive the sites. */
bool sites_init(struct sites *s, const struct code *code, const struct naming *naming,
                enum site_key key, struct arena *scratch);
void sites_free(struct sites *s);

/* 0: nothing of the stack is left.  False when out of memory. */
bool sites_of(struct sites *s, stack_id stack, uint32_t *ret);

#endif
