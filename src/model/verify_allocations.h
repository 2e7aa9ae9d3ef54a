/* verify_allocations.h - what pairing promises; part of verify.h. */
#ifndef VRS_MODEL_VERIFY_ALLOCATIONS_H
#define VRS_MODEL_VERIFY_ALLOCATIONS_H

#include "base/fail.h"
#include "model/recording.h"

/* Needs every other table to hold. */
enum vrs_status verify_allocations(const struct recording *r, struct vrs_error *err) MUST_CHECK;

#endif
