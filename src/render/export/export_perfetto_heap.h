/* export_perfetto_heap.h - what is alive at one moment by whole stack, as a heap profile of a
 * trace.
 *
 * Source: google/perfetto, protos/perfetto/trace/profiling/profile_packet.proto (ProfilePacket). */
#ifndef VRS_RENDER_EXPORT_EXPORT_PERFETTO_HEAP_H
#define VRS_RENDER_EXPORT_EXPORT_PERFETTO_HEAP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/export/export.h"

/* A heap profile belongs to a process, and the reader adds up what processes have at one stack; so
 * each device is a process of its own. */
uint64_t perfetto_process(const struct export_device *d);

/* Writes the fields of a ProfilePacket to `to`: the heap of device `d` at its moment, which is
 * `time_ns` of the trace.  Its sums are in requested bytes.  `index` counts these packets from 0.
 */
enum vrs_status perfetto_heap(const struct exporting *e, const struct export_device *d,
                              uint64_t time_ns, uint64_t index, struct buf *to,
                              struct vrs_error *err) MUST_CHECK;

#endif
