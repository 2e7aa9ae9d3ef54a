/* findings.h - what rules found in measurements: kind, severity, confidence, figures, functions. */
#ifndef VRS_PROFILER_ANALYZER_FINDINGS_H
#define VRS_PROFILER_ANALYZER_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* Of a rule whose findings have an impact: low, medium, high. */
enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

struct figure {
    const char *name; /* static */
    bool whole;       /* `count` is the figure; else `value`, which is NaN where it is unknown */
    int64_t count;
    double value;
};

enum { FIGURES_MOST = 12 };

struct finding {
    const char *kind; /* static */
    enum severity severity;
    double confidence; /* 0 … 1; NaN: the rule has none */
    struct figure figure[FIGURES_MOST];
    uint32_t figures;
    const uint32_t *function; /* those concerned, in the order they are to be named in */
    uint32_t functions;
};

/* All of one question; `failed` says that memory ran out, further additions are then ignored. */
struct findings {
    struct arena arena;
    VEC(struct finding) rows;
    bool failed;
    struct finding lost; /* takes what is written then */
};

void findings_init(struct findings *f);
void findings_free(struct findings *f);

/* A new row, without figures and functions: good until the next one.  Never NULL: what is written
 * after memory ran out is lost. */
struct finding *findings_add(struct findings *f, const char *kind, enum severity severity,
                             double confidence);

void finding_count(struct finding *row, const char *name, int64_t count);
/* A whole number that lies in a double. */
void finding_rounded(struct finding *row, const char *name, double count);
void finding_value(struct finding *row, const char *name, double value);

/* The functions whose flag is set, in their order. */
void finding_functions(struct findings *f, struct finding *row, const bool *flag, uint32_t count);
/* The functions listed, in the order of the list. */
void finding_listed(struct findings *f, struct finding *row, const uint32_t *list, uint32_t count);

#endif
