/* meter.c - finds the ledger of a device and takes its lock. */
#include "profiler/meter.h"

#include <stddef.h>
#include <stdint.h>

#include "profiler/clock.h"

enum { SLOTS_DEFAULT = 4096, BACKENDS_MAX = 1 << 20, DEVICES_MAX = 1 << 20 };
/* A finalizer inside a reading that joins a thread which waits for us must not hang the program. */
enum { WAIT_NS = NS_PER_SECOND };

bool meter_init(struct meter *m, const struct vrs_meter_options *options)
{
    *m = (struct meter){ .options = *options };
    if (m->options.slots == 0)
        m->options.slots = SLOTS_DEFAULT;
    m->backends.max = BACKENDS_MAX;
    m->metered.max = DEVICES_MAX;
    arena_init(&m->arena, SIZE_MAX);
    return driver_init(&m->driver, m->options.driver) && pthread_mutex_init(&m->guard, NULL) == 0;
}

void meter_free(struct meter *m)
{
    for (uint32_t i = 0; i < m->metered.len; i++) {
        read_lock_end(&m->metered.at[i]->lock);
        ledger_free(&m->metered.at[i]->ledger);
        vec_free(&m->metered.at[i]->left);
    }
    vec_free(&m->metered);
    vec_free(&m->backends);
    arena_free(&m->arena);
    driver_free(&m->driver);
    pthread_mutex_destroy(&m->guard);
}

void meter_after_fork(struct meter *m)
{
    pthread_mutex_init(&m->guard, NULL);
    driver_after_fork(&m->driver);
    for (uint32_t i = 0; i < m->metered.len; i++) {
        struct metered *d = m->metered.at[i];
        if (d->lock.held && !pthread_equal(d->lock.holder, pthread_self()) && !d->ledger.asking)
            ledger_forget(&d->ledger); /* another thread was at work on it */
        read_lock_renew(&d->lock);
    }
}

uint32_t meter_add(struct meter *m, const struct vrs_backend *backend)
{
    pthread_mutex_lock(&m->guard);
    uint32_t id = vec_push(&m->backends, *backend) ? m->backends.len : 0;
    pthread_mutex_unlock(&m->guard);
    return id;
}

/* A new entry for a device, with the guard held; NULL: no memory. */
static struct metered *metered_make(struct meter *m, uint32_t id, uint32_t device)
{
    if (!vec_reserve(&m->metered, 1))
        return NULL;
    struct metered *d = arena_take(&m->arena, sizeof *d);
    if (d == NULL || !read_lock_init(&d->lock))
        return NULL;
    ledger_init(&d->ledger, m->options.slots);
    d->left.max = m->options.slots;
    d->backend = m->backends.at[id - 1];
    d->id = id;
    d->device = device;
    m->metered.at[m->metered.len++] = d;
    return d;
}

/* NULL: there is no such backend, or no memory.  Entries never move. */
static struct metered *metered_of(struct meter *m, uint32_t id, uint32_t device)
{
    struct metered *found = NULL;
    pthread_mutex_lock(&m->guard);
    /* Devices of programs are few; those of simulations come and go, the present one is last. */
    for (uint32_t i = m->metered.len; i-- > 0 && found == NULL;)
        if (m->metered.at[i]->id == id && m->metered.at[i]->device == device)
            found = m->metered.at[i];
    if (found == NULL && id != 0 && id <= m->backends.len)
        found = metered_make(m, id, device);
    pthread_mutex_unlock(&m->guard);
    return found;
}

static void count(struct meter *m, uint64_t *what)
{
    pthread_mutex_lock(&m->guard);
    ++*what;
    pthread_mutex_unlock(&m->guard);
}

/* With the lock of the device. */
static void drop_left(struct meter *m, struct metered *d)
{
    pthread_mutex_lock(&m->guard);
    for (uint32_t i = 0; i < d->left.len; i++)
        ledger_drop(&d->ledger, &d->left.at[i]);
    d->left.len = 0;
    d->has_left = false;
    pthread_mutex_unlock(&m->guard);
}

/* Nobody wants to know of the slot any more, but the lock is another's. */
static void leave(struct meter *m, struct metered *d, const struct vrs_slot *slot)
{
    if (slot->place == 0)
        return;
    pthread_mutex_lock(&m->guard);
    if (vec_push(&d->left, *slot))
        d->has_left = true;
    pthread_mutex_unlock(&m->guard);
}

/* Takes the lock of a device; LOCK_BUSY after a second, or at once where nobody wants to wait. */
static enum lock_answer enter(struct meter *m, struct metered *d, bool wait)
{
    enum lock_answer answer = read_lock_try(&d->lock);
    if (answer == LOCK_BUSY && wait) {
        const struct vrs_meter_options *o = &m->options;
        void *begun = o->wait_begin != NULL ? o->wait_begin(o->wait_arg) : NULL;
        answer = read_lock_wait(&d->lock, WAIT_NS);
        if (o->wait_end != NULL)
            o->wait_end(o->wait_arg, begun);
        if (answer == LOCK_BUSY)
            count(m, &m->waits);
    }
    if (answer == LOCK_MINE)
        count(m, &m->nested);
    if (answer == LOCK_TAKEN && d->has_left)
        drop_left(m, d);
    return answer;
}

static struct metered *metered_at(struct meter *m, uint32_t i)
{
    pthread_mutex_lock(&m->guard);
    struct metered *d = i < m->metered.len ? m->metered.at[i] : NULL;
    pthread_mutex_unlock(&m->guard);
    return d;
}

static void forget_functions(struct meter *m, struct metered *d)
{
    enum lock_answer answer;
    do
        answer = enter(m, d, true);
    while (answer == LOCK_BUSY);
    d->backend = (struct vrs_backend){ .size = sizeof d->backend, .name = d->backend.name };
    if (answer == LOCK_TAKEN)
        read_lock_give(&d->lock);
}

void meter_retire(struct meter *m, uint32_t id)
{
    pthread_mutex_lock(&m->guard);
    if (id == 0 || id > m->backends.len) {
        pthread_mutex_unlock(&m->guard);
        return;
    }
    struct vrs_backend none = { .size = sizeof none, .name = m->backends.at[id - 1].name };
    m->backends.at[id - 1] = none;
    pthread_mutex_unlock(&m->guard);

    /* Those that come after this have no functions from the beginning. */
    struct metered *d;
    for (uint32_t i = 0; (d = metered_at(m, i)) != NULL; i++)
        if (d->id == id)
            forget_functions(m, d);
}

void meter_open(struct meter *m, uint32_t id, uint32_t device, uint32_t flags, struct vrs_slot *ret)
{
    *ret = (struct vrs_slot){ .backend = id, .device = device };
    struct metered *d = metered_of(m, id, device);
    if (d == NULL || enter(m, d, true) != LOCK_TAKEN) {
        count(m, &m->unmeasured);
        return;
    }
    ledger_open(&d->ledger, &d->backend, device, flags, ret);
    read_lock_give(&d->lock);
}

void meter_unknown(struct vrs_peaks *ret)
{
    struct ledger none;
    ledger_init(&none, 0);
    ledger_unknown(&none, VRS_STATE_UNKNOWN, ret);
}

/* Without a reading, because the lock is not to be had. */
static void answer_without(const struct metered *d, enum lock_answer answer, struct vrs_peaks *ret)
{
    /* The caller is inside a reading of its own: nobody else changes the last one. */
    if (answer == LOCK_MINE) {
        ledger_unknown(&d->ledger, VRS_NESTED, ret);
        return;
    }
    meter_unknown(ret);
}

/* The same for a slot that is closed. */
static void drop_without(struct meter *m, struct metered *d, enum lock_answer answer,
                         struct vrs_slot *slot)
{
    /* The reading under way is this thread's own and looks at the slots when it is back. */
    if (answer == LOCK_MINE)
        ledger_drop(&d->ledger, slot);
    else if (d != NULL)
        leave(m, d, slot);
    slot->place = 0;
}

void meter_mark(struct meter *m, struct vrs_slot *slot, struct vrs_peaks *ret)
{
    struct metered *d = metered_of(m, slot->backend, slot->device);
    enum lock_answer answer = d != NULL ? enter(m, d, true) : LOCK_BUSY;
    if (answer != LOCK_TAKEN) {
        answer_without(d, answer, ret);
        return;
    }
    ledger_mark(&d->ledger, &d->backend, slot->device, slot, ret);
    read_lock_give(&d->lock);
}

void meter_close(struct meter *m, struct vrs_slot *slot, struct vrs_peaks *ret)
{
    struct metered *d = metered_of(m, slot->backend, slot->device);
    enum lock_answer answer = d != NULL ? enter(m, d, true) : LOCK_BUSY;
    if (answer == LOCK_TAKEN) {
        ledger_close(&d->ledger, &d->backend, slot->device, slot, ret);
        read_lock_give(&d->lock);
        return;
    }
    answer_without(d, answer, ret);
    drop_without(m, d, answer, slot);
}

void meter_drop(struct meter *m, struct vrs_slot *slot)
{
    struct metered *d = metered_of(m, slot->backend, slot->device);
    enum lock_answer answer = d != NULL ? enter(m, d, true) : LOCK_BUSY;
    if (answer == LOCK_TAKEN) {
        ledger_drop(&d->ledger, slot);
        read_lock_give(&d->lock);
    } else {
        drop_without(m, d, answer, slot);
    }
}

bool meter_same(const struct vrs_slot *a, const struct vrs_slot *b)
{
    return a->place == b->place && a->turn == b->turn;
}

enum vrs_state meter_read(struct meter *m, uint32_t id, uint32_t device, bool wait,
                          struct vrs_stats *ret)
{
    struct metered *d = metered_of(m, id, device);
    enum lock_answer answer = d != NULL ? enter(m, d, wait) : LOCK_BUSY;
    struct vrs_peaks last;
    if (d != NULL && answer == LOCK_BUSY && !wait)
        return VRS_NESTED;
    if (answer != LOCK_TAKEN) {
        answer_without(d, answer, &last);
        *ret = last.now;
        return last.state;
    }
    bool read = ledger_read(&d->ledger, &d->backend, device, ret);
    if (!read) {
        answer_without(d, LOCK_BUSY, &last); /* not the last one, which is older */
        *ret = last.now;
    }
    read_lock_give(&d->lock);
    return read ? VRS_EXACT : VRS_STATE_UNKNOWN;
}

void meter_watch(struct meter *m, uint32_t id, uint32_t device, bool on)
{
    struct metered *d = metered_of(m, id, device);
    if (d == NULL)
        return;
    if (on)
        d->ledger.watchers++;
    else
        d->ledger.watchers--;
}

bool meter_sample(struct meter *m, struct vrs_slot *slot, bool read, struct vrs_peaks *ret,
                  uint64_t *ret_ns)
{
    struct metered *d = metered_of(m, slot->backend, slot->device);
    enum lock_answer answer = d != NULL ? enter(m, d, false) : LOCK_BUSY;
    if (answer != LOCK_TAKEN)
        return false;
    if (read)
        ledger_mark(&d->ledger, &d->backend, slot->device, slot, ret);
    else
        ledger_mark_last(&d->ledger, slot, ret);
    *ret_ns = d->ledger.last_ns;
    read_lock_give(&d->lock);
    return true;
}

uint32_t meter_slots(struct meter *m, uint32_t id, uint32_t device)
{
    struct metered *d = metered_of(m, id, device);
    return d != NULL ? d->ledger.open_slots : 0;
}

void meter_losses(struct meter *m, struct vrs_meter_losses *ret)
{
    pthread_mutex_lock(&m->guard);
    *ret =
        (struct vrs_meter_losses){ .slots = m->unmeasured, .waits = m->waits, .nested = m->nested };
    for (uint32_t i = 0; i < m->metered.len; i++) {
        const struct ledger *l = &m->metered.at[i]->ledger;
        ret->slots += l->slots_refused;
        ret->readings += l->failed_readings;
        ret->resets += l->foreign_resets;
    }
    pthread_mutex_unlock(&m->guard);
}

struct vrs_backend meter_backend(struct meter *m, uint32_t id)
{
    struct vrs_backend b = { .size = sizeof b };
    pthread_mutex_lock(&m->guard);
    if (id != 0 && id <= m->backends.len)
        b = m->backends.at[id - 1];
    pthread_mutex_unlock(&m->guard);
    return b;
}
