/* automaton.h - an expression as an automaton, and whether it leads through a text.
 *
 * An expression may be a stranger's.  The C library's matcher keeps every set of places at which
 * one can stand, and looks for what a group matched by trying: `(a|b)*a.{100}c` takes seconds and
 * gigabytes of a few names, `(a*)(a*)(a*)\1\2\3b` takes days; its compiler descends into `a****`
 * until the stack ends.  Here every byte of a text visits each op at most once. */
#ifndef VRS_BASE_AUTOMATON_H
#define VRS_BASE_AUTOMATON_H

#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"

/* With all repeats written out; and groups in each other. */
enum { AUTOMATON_OPS_MOST = 2048, AUTOMATON_DEEPEST = 50 };

enum automaton_op_kind {
    AUTOMATON_BYTE,  /* takes the byte `a` */
    AUTOMATON_SET,   /* takes a byte of the set `a` */
    AUTOMATON_SPLIT, /* goes on both at `a` and at `b` from here */
    AUTOMATON_JUMP,  /* goes on at `a` from here */
    AUTOMATON_BEGIN, /* holds where the text begins; the others likewise */
    AUTOMATON_END,
    AUTOMATON_WORD_BEGIN,
    AUTOMATON_WORD_END,
    AUTOMATON_WORD_EDGE,
    AUTOMATON_NO_WORD_EDGE,
    AUTOMATON_DONE
};

struct automaton_op {
    enum automaton_op_kind kind;
    int32_t a, b;
};

struct byte_set {
    uint64_t of[4];
};

struct automaton {
    VEC(struct automaton_op) op;
    VEC(struct byte_set) set;
    bool ignore_case; /* of ASCII letters */
};

/* `expression` is what regcomp takes as an extended one in the C locale, with \w \W \s \S \b \B
 * \< \> \` \' of the GNU library, and without its references back.  VRS_USAGE says what is wrong
 * with it, or that it is too long. */
enum vrs_status automaton_make(const char *expression, bool ignore_case, struct automaton *ret,
                               struct vrs_error *err) MUST_CHECK;
void automaton_free(struct automaton *a);

/* Does some part of `text` match?  May be asked by many threads. */
bool automaton_matches(const struct automaton *a, const char *text);

#endif
