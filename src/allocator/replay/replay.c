/* replay.c - drives a machine with the recorded requests and compares each outcome. */
#include "allocator/replay/replay.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/machine.h"
#include "allocator/replay/program.h"
#include "allocator/replay/start_state.h"
#include "base/sorted.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

const char *const replay_grade_names[GRADES] = {
    [GRADE_NONE] = "none",     [GRADE_POOR] = "poor",
    [GRADE_MOSTLY] = "mostly", [GRADE_CORRECTED] = "exact after correction",
    [GRADE_EXACT] = "exact",
};

const char *const replay_refusal_names[REFUSALS] = {
    [REFUSED_NO_EVENTS] = "no_trace", [REFUSED_CUT] = "incomplete",
    [REFUSED_HOST] = "host",          [REFUSED_INCONSISTENT] = "inconsistent",
    [REFUSED_LANES] = "streams",      [REFUSED_WORK] = "too_many_disagreements",
    [REFUSED_BACKEND] = "backend",    [REFUSED_ASKED] = "not_wanted",
};

const char *const disagreement_names[DISAGREEMENTS] = {
    [AGREES] = "none",
    [WRONG_ADDRESS] = "wrong_address",
    [ADDRESS_TAKEN] = "address_taken",
    [SEGMENT_NOT_ASKED] = "segment_not_asked",
    [SEGMENT_MISSING] = "segment_missing",
    [SEGMENT_DIFFERS] = "segment_differs",
    [UNKNOWN_FREE] = "unknown_free",
    [SIZE_CLASH] = "size_clash",
    [RELEASE_IMPOSSIBLE] = "release_impossible",
    [RELEASE_DIFFERS] = "release_differs",
    [SNAPSHOT_DIFFERS] = "snapshot_differs",
    [FINAL_DIFFERS] = "final_differs",
};

enum {
    CORRECTIONS_MAX = 64,
    CORRECTION_EVENTS_MAX = 32 << 20, /* replayed for corrections, in all rounds together */
    STEPS_MIN = 8 << 20,
    STEPS_AN_EVENT = 32 /* blocks looked at before following is given up */
};

/* Where the model found out that a start block owns more than was inferred. */
struct hint {
    uint32_t start; /* block, or NO_ROW */
    uint64_t size;
};

/* Memory that the recording obtained and the model has not asked for yet: events of the device. */
typedef VEC(uint32_t) growth_vec;

struct replay {
    const struct program *p;
    const struct start_state *start;
    const struct events *e;
    struct machine m;
    uint32_t *block_of; /* of each slot */
    bool *guessed;      /* of each start block: its size is inferred, and it is still there */
    uint64_t *block_bytes;
    growth_vec growth;
    VEC(struct machine_call) mapped; /* what the model mapped for the request at hand */
    release_vec releases;
    struct hint hint;
    struct agreement a;
    uint32_t i;       /* the event at hand */
    uint32_t request; /* the next alloc or oom, as far as it was looked for */
};

static void disagree(struct replay *r, enum disagreement kind, uint64_t expected_address,
                     uint64_t recorded_address, uint64_t expected_bytes, uint64_t recorded_bytes)
{
    if (r->a.first.kind == AGREES)
        r->a.first = (struct first_disagreement){
            kind, r->i, expected_address, recorded_address, expected_bytes, recorded_bytes
        };
}

static uint32_t row_of(const struct replay *r)
{
    return r->p->first + r->i;
}

/* Has so much been looked at, one block after the other, that going on could take for ever? */
static bool gives_up(const struct replay *r)
{
    return r->m.steps > STEPS_MIN && r->m.steps / STEPS_AN_EVENT > r->p->events;
}

/* Following a disagreement: the model is made to do what was recorded. */

/* The block that holds an address, or 0: every segment, then every block of the one it lies in. */
static uint32_t find_block(struct replay *r, uint64_t address)
{
    for (uint32_t s = 0; s < r->m.segments.len && !gives_up(r); s++) {
        r->m.steps++;
        const struct machine_segment *segment = &r->m.segments.at[s];
        if (segment->first == 0 || address < segment->base)
            continue;
        for (uint32_t b = segment->first; b != 0; b = r->m.blocks.at[b].next) {
            r->m.steps++;
            if (address - r->m.blocks.at[b].address < r->m.blocks.at[b].size)
                return r->m.blocks.at[b].mapped ? b : 0;
            if (r->m.blocks.at[b].address > address)
                break;
        }
    }
    return 0;
}

/* The unmapped range of a side that holds an address, or 0. */
static uint32_t find_hole(struct replay *r, uint32_t side, uint64_t address)
{
    struct block_set *unmapped = &r->m.sides.at[side].unmapped;
    struct set_key key = { 0, address };
    uint32_t hole = set_at_least(unmapped, key);
    if (hole == 0 || r->m.blocks.at[hole].address != address)
        hole = set_before(unmapped, key);
    bool holds = hole != 0 && address - r->m.blocks.at[hole].address < r->m.blocks.at[hole].size;
    return holds ? hole : 0;
}

/* Maps pages where the recording did. */
static void adopt_pages(struct replay *r, uint32_t side, uint64_t address, uint64_t bytes)
{
    uint32_t hole = find_hole(r, side, address);
    if (hole == 0)
        hole = machine_reserve(&r->m, address, side);
    if (hole == 0)
        return;
    uint64_t before = address - r->m.blocks.at[hole].address;
    if (before > 0)
        hole = block_part(&r->m, hole, before);
    if (hole != 0)
        machine_map(&r->m, hole, bytes);
}

static void adopt_growth(struct replay *r, uint32_t side)
{
    for (uint32_t i = 0; i < r->growth.len && !r->m.no_memory; i++) {
        uint32_t row = r->p->first + r->growth.at[i];
        if (r->e->action[row] == ACTION_SEGMENT_ALLOC)
            machine_add_segment(&r->m, r->e->address[row], r->e->size[row], side);
        else
            adopt_pages(r, side, r->e->address[row], r->e->size[row]);
    }
    r->growth.len = 0;
}

/* A free piece so small before an address cannot be: the inferred block left of it owns it. */
static void note_hint(struct replay *r, uint32_t block, uint64_t address)
{
    const struct machine_block *b = &r->m.blocks.at[block];
    uint64_t slack = address - b->address;
    if (r->hint.start != NO_ROW || b->use != BLOCK_FREE || b->prev == 0 || slack == 0 ||
        slack > SMALL_BLOCK_MAX || r->m.blocks.at[b->prev].use == BLOCK_FREE)
        return;
    uint64_t owner = r->m.blocks.at[b->prev].address;
    uint32_t i = program_start_from(r->p, owner);
    if (i < r->p->starts && r->guessed[i] && r->block_of[i] == b->prev)
        r->hint = (struct hint){ i, address - owner };
}

/* Takes the recorded address out of the free block that holds it; 0 where none does. */
static uint32_t force(struct replay *r, uint64_t address, uint64_t rounded, uint64_t request)
{
    struct machine *m = &r->m;
    uint32_t block = find_block(r, address);
    if (block == 0)
        return 0;
    note_hint(r, block, address);
    const struct machine_block *b = &m->blocks.at[block];
    uint64_t before = address - b->address;
    if (b->use != BLOCK_FREE || b->size - before < rounded)
        return 0;
    if (before > 0)
        block = block_part(m, block, before);
    if (block != 0)
        machine_take(m, block, rounded, request);
    return block;
}

static enum disagreement wrong_address(struct replay *r, uint64_t address)
{
    uint32_t block = find_block(r, address);
    bool taken = block != 0 && r->m.blocks.at[block].use != BLOCK_FREE;
    return taken ? ADDRESS_TAKEN : WRONG_ADDRESS;
}

/* New memory. */

static void observe(void *arg, const struct machine_call *call)
{
    struct replay *r = arg;
    if (call->call == PAGES_MAPPED && !vec_push(&r->mapped, *call))
        r->m.no_memory = true;
}

/* Are the recorded maps, from the first to the last, those that the model made? */
static bool same_maps(const struct replay *r)
{
    if (r->mapped.len != r->growth.len)
        return false;
    for (uint32_t i = 0; i < r->mapped.len; i++) {
        uint32_t row = r->p->first + r->growth.at[i];
        if (r->e->action[row] != ACTION_SEGMENT_MAP ||
            r->mapped.at[i].address != r->e->address[row] ||
            r->mapped.at[i].bytes != r->e->size[row])
            return false;
    }
    return true;
}

/* The first recorded piece of growth, for words. */
static void disagree_growth(struct replay *r, uint64_t expected_address, uint64_t expected_bytes)
{
    if (r->growth.len == 0) {
        disagree(r, SEGMENT_MISSING, expected_address, r->e->address[row_of(r)], expected_bytes,
                 UNKNOWN_U64);
        return;
    }
    uint32_t row = r->p->first + r->growth.at[0];
    disagree(r, SEGMENT_DIFFERS, expected_address, r->e->address[row], expected_bytes,
             r->e->size[row]);
}

static uint32_t grow_reservation(struct replay *r, uint32_t side, uint64_t rounded)
{
    bool full;
    r->mapped.len = 0;
    uint32_t block = machine_grow(&r->m, side, rounded, &full);
    if (block == 0 && r->growth.len > 0 &&
        machine_reserve(&r->m, r->e->address[r->p->first + r->growth.at[0]], side) != 0)
        block = machine_grow(&r->m, side, rounded, &full);
    if (block != 0 && same_maps(r))
        r->a.new_memory_equal++;
    else
        disagree_growth(r, r->mapped.len > 0 ? r->mapped.at[0].address : UNKNOWN_U64,
                        r->mapped.len > 0 ? r->mapped.at[0].bytes : UNKNOWN_U64);
    r->growth.len = 0;
    return block;
}

/* A block from new memory, which the recording should have obtained just now. */
static uint32_t grow(struct replay *r, uint32_t side, uint64_t rounded)
{
    const struct events *e = r->e;
    uint32_t row = r->growth.len == 0 ? 0 : r->p->first + r->growth.at[0];
    bool maps = r->growth.len == 0 || e->action[row] == ACTION_SEGMENT_MAP;
    r->a.new_memory++;
    if (r->m.config.expandable && maps)
        return grow_reservation(r, side, rounded);
    uint64_t bytes = config_segment_bytes(&r->m.config, rounded);
    if (r->growth.len == 1 && e->size[row] == bytes && e->action[row] == ACTION_SEGMENT_ALLOC &&
        e->stream[row] == e->stream[row_of(r)]) {
        r->a.new_memory_equal++;
        r->growth.len = 0;
        return machine_add_segment(&r->m, e->address[row], bytes, side);
    }
    disagree_growth(r, UNKNOWN_U64, bytes);
    adopt_growth(r, side);
    return machine_best_fit(&r->m, side, rounded);
}

/* Events. */

static void replay_alloc(struct replay *r)
{
    uint32_t row = row_of(r), lane = r->p->lane[r->i];
    uint64_t request = r->e->size[row], address = r->e->address[row];
    uint64_t rounded = machine_round(&r->m, request);
    uint32_t side = lane_side(lane, rounded);
    uint32_t block = machine_best_fit(&r->m, side, rounded);
    r->a.addresses++;
    if (block == 0) {
        block = grow(r, side, rounded);
    } else if (r->growth.len > 0) {
        r->a.unexpected_segments += r->growth.len;
        uint32_t grown = r->p->first + r->growth.at[0];
        disagree(r, SEGMENT_NOT_ASKED, r->m.blocks.at[block].address, r->e->address[grown],
                 r->m.blocks.at[block].size, r->e->size[grown]);
        adopt_growth(r, side);
        /* New pages may have swallowed the block. */
        block = machine_best_fit(&r->m, side, rounded);
    }
    uint32_t *held = &r->block_of[r->p->slot[r->i]];
    if (block != 0 && r->m.blocks.at[block].address == address) {
        r->a.addresses_equal++;
        machine_take(&r->m, block, rounded, request);
    } else {
        disagree(r, wrong_address(r, address),
                 block == 0 ? UNKNOWN_U64 : r->m.blocks.at[block].address, address, UNKNOWN_U64,
                 request);
        block = force(r, address, rounded, request);
    }
    if (block != 0)
        *held = block;
    if (block != 0 && r->block_bytes != NULL)
        r->block_bytes[r->a.addresses - 1] = r->m.blocks.at[block].size;
}

static void replay_free(struct replay *r, uint8_t action)
{
    uint32_t row = row_of(r), slot = r->p->slot[r->i];
    uint32_t block = slot == NO_ROW ? 0 : r->block_of[slot];
    if (block == 0) {
        r->a.unknown_frees++;
        disagree(r, UNKNOWN_FREE, UNKNOWN_U64, r->e->address[row], UNKNOWN_U64, r->e->size[row]);
        return;
    }
    if (r->m.blocks.at[block].requested != r->e->size[row]) {
        r->a.size_clashes++;
        disagree(r, SIZE_CLASH, UNKNOWN_U64, r->e->address[row], r->m.blocks.at[block].requested,
                 r->e->size[row]);
    }
    if (action == ACTION_FREE_REQUESTED) {
        machine_wait(&r->m, block);
        return;
    }
    machine_complete(&r->m, block);
    r->block_of[slot] = 0;
    if (slot < r->p->starts)
        r->guessed[slot] = false;
}

/* The part of an expandable block that the recording unmapped, as a release of the model. */
static bool find_release(struct replay *r, uint32_t row, struct release *ret)
{
    uint64_t address = r->e->address[row], bytes = r->e->size[row];
    bool unmaps = r->e->action[row] == ACTION_SEGMENT_UNMAP;
    uint32_t block = find_block(r, address);
    const struct machine_block *b = &r->m.blocks.at[block];
    if (block == 0 || b->use != BLOCK_FREE || block_expandable(&r->m, b) != unmaps)
        return false;
    bool whole = b->address == address && b->size == bytes && b->prev == 0 && b->next == 0;
    bool inside = bytes <= b->size - (address - b->address);
    *ret = (struct release){ block, unmaps, address, bytes };
    return unmaps ? inside && bytes != 0 : whole;
}

static bool same_release(const struct replay *r, const struct release *model, uint32_t row)
{
    bool unmaps = r->e->action[row] == ACTION_SEGMENT_UNMAP;
    return model->unmaps == unmaps && model->address == r->e->address[row] &&
           model->bytes == r->e->size[row];
}

/* Is the run of releases that begins here the model's full release? */
static bool same_run(struct replay *r, const struct release_run *run)
{
    uint32_t entries = run->last - run->first + 1;
    if (!machine_releasable(&r->m, &r->releases)) {
        r->m.no_memory = true;
        return false;
    }
    if (r->releases.len != entries)
        return false;
    for (uint32_t i = 0; i < entries; i++)
        if (!same_release(r, &r->releases.at[i], r->p->first + run->first + i))
            return false;
    return true;
}

/* The bytes of a run that is not the model's, for words. */
static void disagree_run(struct replay *r, const struct release_run *run, uint64_t expected)
{
    uint64_t recorded = 0;
    for (uint32_t i = run->first; i <= run->last; i++)
        recorded += r->e->size[r->p->first + i];
    r->i = run->first;
    disagree(r, RELEASE_DIFFERS, UNKNOWN_U64, r->e->address[row_of(r)], expected, recorded);
}

static void replay_release(struct replay *r, const struct release *model)
{
    struct release release;
    uint32_t row = row_of(r);
    if (model != NULL) {
        machine_return(&r->m, model);
    } else if (find_release(r, row, &release)) {
        machine_return(&r->m, &release);
    } else {
        r->a.impossible_releases++;
        disagree(r, RELEASE_IMPOSSIBLE, UNKNOWN_U64, r->e->address[row], UNKNOWN_U64,
                 r->e->size[row]);
    }
}

/* The next request after an event; the number of events where there is none. */
static uint32_t next_request(struct replay *r, uint32_t event)
{
    const uint8_t *action = r->e->action + r->p->first;
    if (r->request <= event)
        r->request = event + 1;
    while (r->request < r->p->events && action[r->request] != ACTION_ALLOC &&
           action[r->request] != ACTION_OOM)
        r->request++;
    return r->request;
}

/* What an attempt mapped before it failed stays, and is free when the retry releases everything. It
 * is memory of the request that follows. */
static void adopt_failed_growth(struct replay *r, uint32_t last)
{
    uint32_t i = r->growth.len == 0 ? r->p->events : next_request(r, last);
    if (i == r->p->events)
        return;
    uint64_t bytes = machine_round(&r->m, known_or_0(r->e->size[r->p->first + i]));
    adopt_growth(r, lane_side(r->p->lane[i], bytes));
}

/* A whole run, as recorded; the last of its events is then the one at hand.  A release that cannot
 * be says more than that the run differs. */
static void replay_run_of_releases(struct replay *r, const struct release_run *run)
{
    adopt_failed_growth(r, run->last);
    bool same = same_run(r, run);
    uint64_t expected = 0;
    for (uint32_t i = 0; i < r->releases.len; i++)
        expected += r->releases.at[i].bytes;
    r->a.release_runs++;
    r->a.release_runs_equal += same;
    for (; r->i <= run->last && !r->m.no_memory; r->i++)
        replay_release(r, same ? &r->releases.at[r->i - run->first] : NULL);
    if (!same)
        disagree_run(r, run, expected);
    r->i = run->last;
}

static void replay_snapshot(struct replay *r)
{
    uint64_t recorded = r->e->size[row_of(r)];
    r->a.snapshots++;
    r->a.snapshots_equal += recorded == r->m.active;
    if (recorded != r->m.active)
        disagree(r, SNAPSHOT_DIFFERS, UNKNOWN_U64, UNKNOWN_U64, r->m.active, recorded);
}

static void replay_event(struct replay *r, uint32_t *run)
{
    uint32_t row = row_of(r);
    switch ((enum event_action)r->e->action[row]) {
    case ACTION_ALLOC:
        replay_alloc(r);
        break;
    case ACTION_FREE_REQUESTED:
    case ACTION_FREE_COMPLETED:
    case ACTION_FREE:
        replay_free(r, r->e->action[row]);
        break;
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_MAP:
        if (!vec_push(&r->growth, r->i))
            r->m.no_memory = true;
        break;
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_UNMAP:
        replay_run_of_releases(r, &r->p->run[(*run)++]);
        break;
    case ACTION_SNAPSHOT:
        replay_snapshot(r);
        break;
    case ACTION_OOM:
        /* What a failed attempt mapped stays. */
        adopt_growth(r, lane_side(r->p->lane[r->i], known_or_0(r->e->size[row])));
        break;
    case ACTION_OTHER:
    case ACTION_ANNOTATE:
    case ACTION_USER_DEFINED:
    case ACTIONS:
        break;
    }
}

static void note_curve(struct exact_curve *c, uint64_t bytes, int64_t event)
{
    if ((int64_t)bytes > c->peak_bytes) {
        c->peak_bytes = (int64_t)bytes;
        c->peak_event = event;
    }
    if ((int64_t)bytes == c->peak_bytes)
        c->peak_last_event = event;
    c->end_bytes = (int64_t)bytes;
}

static struct exact_curve curve_from(uint64_t bytes)
{
    return (struct exact_curve){ (int64_t)bytes, (int64_t)bytes, (int64_t)bytes, -1, -1 };
}

/* The end. */

struct place {
    uint64_t address;
    uint32_t block;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* The first place at an address, or NULL. */
static const struct place *find_place(const struct place *place, uint32_t places, uint64_t address)
{
    uint32_t at;
    SORTED_FIND(at, places, place[at].address < address);
    return at < places && place[at].address == address ? &place[at] : NULL;
}

static bool same_use(uint8_t model, uint8_t state)
{
    return model == (state == BLOCK_INACTIVE    ? BLOCK_FREE
                     : state == BLOCK_ALLOCATED ? BLOCK_IN_USE
                                                : BLOCK_WAITING);
}

static void compare_final(struct replay *r, const struct place *place, uint32_t places)
{
    const struct recording *rec = r->p->r;
    uint32_t first = rec->devices.first_block[r->p->device];
    r->i = r->p->events;
    for (uint32_t i = 0; i < rec->devices.blocks[r->p->device]; i++) {
        uint64_t address = rec->blocks.address[first + i], size = rec->blocks.size[first + i];
        const struct place *at = find_place(place, places, address);
        const struct machine_block *b = at == NULL ? NULL : &r->m.blocks.at[at->block];
        bool same = b != NULL && b->size == size && same_use(b->use, rec->blocks.state[first + i]);
        r->a.final_blocks++;
        r->a.final_blocks_equal += same;
        if (!same)
            disagree(r, FINAL_DIFFERS, b == NULL ? UNKNOWN_U64 : address, address,
                     b == NULL ? UNKNOWN_U64 : b->size, size);
    }
}

static bool check_final(struct replay *r)
{
    VEC(struct place) places = { .max = UINT32_MAX };
    bool room = true;
    for (uint32_t s = 0; s < r->m.segments.len && room; s++)
        for (uint32_t b = r->m.segments.at[s].first; b != 0 && room; b = r->m.blocks.at[b].next)
            if (r->m.blocks.at[b].mapped)
                room = vec_push(&places, (struct place){ r->m.blocks.at[b].address, b });
    if (room) {
        if (places.len > 1)
            qsort(places.at, places.len, sizeof *places.at, by_place);
        compare_final(r, places.at, places.len);
    }
    vec_free(&places);
    return room;
}

static void replay_events(struct replay *r)
{
    uint32_t run = 0;
    r->a.active = curve_from(r->m.active);
    r->a.allocated = curve_from(r->m.allocated);
    for (r->i = 0; r->i < r->p->events && !r->m.no_memory; r->i++) {
        replay_event(r, &run);
        note_curve(&r->a.active, r->m.active, r->i);
        note_curve(&r->a.allocated, r->m.allocated, r->i);
        if (gives_up(r)) {
            r->a.refusal = REFUSED_WORK;
            return;
        }
    }
}

static bool replay_once(struct replay *r, const struct allocator_config *config)
{
    r->a = (struct agreement){ .preexisting = r->p->starts, .inferred = r->start->inferences };
    r->hint = (struct hint){ NO_ROW, 0 };
    r->growth.len = r->request = 0;
    for (uint32_t i = 0; i < r->p->starts; i++)
        r->guessed[i] = r->start->inferred[i];
    bool good = machine_init(&r->m, config) && start_state_build(r->start, &r->m, r->block_of);
    if (good) {
        r->m.listen = observe;
        r->m.listen_arg = r;
        replay_events(r);
        good = !r->m.no_memory && (r->a.refusal != REFUSED_NOT || check_final(r));
    }
    machine_free(&r->m);
    return good;
}

static void count_causes(const struct program *p, struct agreement *a)
{
    for (uint32_t i = 0; i < p->runs; i++) {
        uint64_t *count = p->run[i].by_stack ? a->runs_by_stack : a->runs_by_sequence;
        count[p->run[i].cause]++;
    }
}

static enum replay_grade grade_of(const struct agreement *a)
{
    bool final = a->final_blocks == a->final_blocks_equal;
    if (a->refusal != REFUSED_NOT || a->addresses == 0)
        return GRADE_NONE;
    if (a->first.kind == AGREES)
        return a->corrected > 0 ? GRADE_CORRECTED : GRADE_EXACT;
    bool many = a->addresses_equal * 100 >= a->addresses * 99;
    return many && final ? GRADE_MOSTLY : GRADE_POOR;
}

/* Corrects start blocks one by one, as long as each lets the model agree further, or more, than
 * before. Leaves the outcome of the last replay that helped; false when out of memory. */
static bool replay_corrected(struct replay *r, struct start_state *start,
                             const struct allocator_config *config)
{
    uint64_t corrected = 0, replayed = r->p->events;
    bool good = replay_once(r, config);
    while (good && r->a.first.kind != AGREES && r->hint.start != NO_ROW &&
           corrected < CORRECTIONS_MAX && replayed < CORRECTION_EVENTS_MAX) {
        uint32_t block = r->hint.start;
        uint64_t size = start->size[block];
        bool ambiguous = start->ambiguous[block];
        int64_t agreed = r->a.first.event;
        uint64_t equal = r->a.addresses_equal;
        start->size[block] = r->hint.size;
        start->inferred[block] = start->ambiguous[block] = false;
        good = replay_once(r, config);
        replayed += r->p->events;
        if (good && r->a.first.kind != AGREES && r->a.first.event <= agreed &&
            r->a.addresses_equal <= equal) {
            start->size[block] = size;
            start->inferred[block] = true;
            start->ambiguous[block] = ambiguous;
            good = replay_once(r, config);
            break;
        }
        corrected++;
    }
    r->a.corrected = corrected;
    return good;
}

enum vrs_status replay_run(const struct program *p, struct start_state *start,
                           const struct allocator_config *config, uint64_t *block_bytes,
                           struct agreement *ret, struct vrs_error *err)
{
    struct replay r = { .p = p, .start = start, .e = &p->r->events, .block_bytes = block_bytes };
    r.growth.max = r.mapped.max = UINT32_MAX;
    bool good = vec_resize((void **)&r.block_of, (size_t)p->slots + 1, sizeof *r.block_of) &&
                vec_resize((void **)&r.guessed, (size_t)p->starts + 1, sizeof *r.guessed) &&
                replay_corrected(&r, start, config);
    vec_resize((void **)&r.block_of, 0, 1);
    vec_resize((void **)&r.guessed, 0, 1);
    vec_free(&r.growth);
    vec_free(&r.mapped);
    vec_free(&r.releases);
    if (!good)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < p->starts; i++)
        r.a.ambiguous += start->ambiguous[i];
    count_causes(p, &r.a);
    r.a.grade = grade_of(&r.a);
    if (r.a.addresses == 0 && r.a.refusal == REFUSED_NOT)
        r.a.refusal = REFUSED_NO_EVENTS;
    *ret = r.a;
    return VRS_OK;
}
