/* trace_ranks.h - the ranks of one job side by side: which was late, for whom others waited.
 *
 * A rank is a file, or one of several host processes whose traces were merged into a file: what
 * ran on its threads, and the device work that it launched.  A collective ends on all ranks at about
 * the same time, so the rank that is the shortest time in it came last, and the others waited for
 * it: so much longer is theirs.  Collectives are matched by their names and their order in a step. */
#ifndef VRS_ANALYSIS_TRACE_RANKS_TRACE_RANKS_H
#define VRS_ANALYSIS_TRACE_RANKS_TRACE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/field.h"
#include "base/str.h"

/* A step with the device work that it launched; a collective on the device. */
struct rank_part_step {
    int64_t number, ns;
};

struct rank_part_collective {
    str name;
    int64_t step; /* by its number; -1: in none */
    int64_t ns;
};

/* What a rank is compared by. */
struct rank_part {
    str process;  /* of the host; ptr NULL: the file has none */
    struct rank_part_step *step; /* in the order of time */
    uint32_t steps;
    struct rank_part_collective *collective; /* likewise */
    uint32_t collectives;
    int64_t communication_ns, exposed_communication_ns; /* some collective ran; and nothing else */
};

struct rank_parts {
    struct rank_part *part; /* more than one where several ranks were merged into the file */
    uint32_t parts;
};

/* False when out of memory. */
bool rank_parts_make(const struct trace_study *s, struct arena *arena, struct rank_parts *ret);

/* A rank among those of its job. */
struct rank_unit {
    str path; /* of its file */
    int64_t rank;
    const struct rank_part *part;
};

struct trace_rank_row {
    str path, process;
    int64_t rank;
    uint32_t steps, slowest; /* steps; those in which it took longer than others */
    int64_t median_step_ns;  /* 0 without steps */
    int64_t communication_ns, exposed_communication_ns;
    int64_t collective_ns, waiting_ns; /* of matched collectives */
    double waiting;                    /* share of that; negative: there are none */
};

struct trace_rank_step_row {
    int64_t number;
    uint32_t ranks; /* that have it */
    int64_t shortest_ns, longest_ns, skew_ns;
    int64_t slowest; /* rank; of equal ones the first; where skew_ns is 0 there is none */
};

struct trace_rank_collective_row {
    str name;
    uint64_t calls; /* on each rank */
    int64_t ns, waiting_ns, most_waiting_ns; /* of all ranks together; the last: of one call */
};

struct trace_ranks {
    static_text by; /* how ranks were told: "distributed_info", "name", "process" */
    struct trace_rank_row *row; /* by rank */
    uint32_t rows;
    struct trace_rank_step_row *step; /* by number */
    uint32_t steps;
    struct trace_rank_collective_row *collective; /* by falling waiting, ties by name */
    uint32_t collectives;
    uint64_t unmatched; /* collectives that not every rank has */
};

/* Two ranks or more.  False when out of memory. */
bool trace_ranks_make(const struct rank_unit *unit, uint32_t units, static_text by,
                      struct arena *arena, struct trace_ranks *ret);

extern const struct row_type trace_ranks_row_type, trace_rank_row_type;

#endif
