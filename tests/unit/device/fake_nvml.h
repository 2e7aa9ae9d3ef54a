/* fake_nvml.h - what a library that stands for the driver's answers; its symbol is `fake_nvml`. */
#ifndef TESTS_UNIT_FAKE_NVML_H
#define TESTS_UNIT_FAKE_NVML_H

struct fake_nvml {
    int init, find, memory, utilisation, processes; /* status of each call; 0: success */
    unsigned long long total, used;
    unsigned percent;
    unsigned count, pid; /* processes; that of the first */
    unsigned long long process_bytes;
    /* How often each was called. */
    unsigned inits, shutdowns, finds, memories, utilisations;
    char found[64]; /* by what the last device was looked for */
};

#endif
