#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/nvml.h"
#include "made/fault.h"
#include "unit/device/fake_nvml.h"

enum { LOST = 15, TOO_SMALL = 7 };

static const char uuid[] = "GPU-5d8e1f00-0000-0000-0000-000000000000";

/* The library that the build made, and what it is told. */
static const char *library;
static struct fake_nvml *fake;

static int find_fake(void **state)
{
    (void)state;
    library = getenv("VRAMSCOPE_TEST_NVML");
    void *handle = library == NULL ? NULL : dlopen(library, RTLD_NOW);
    fake = handle == NULL ? NULL : dlsym(handle, "fake_nvml");
    return fake != NULL ? 0 : -1;
}

static void tell(struct fake_nvml what)
{
    *fake = what;
}

static const struct fake_nvml usual = { .total = 1000, .used = 400, .percent = 30 };

static void a_driver_that_is_not_there_is_a_reason(void **state)
{
    (void)state;
    struct nvml n;
    assert_false(nvml_open(&n, "libno-such-driver.so"));
    assert_non_null(strstr(n.why, "libno-such-driver.so"));
    nvml_close(&n); /* nothing */
    assert_false(nvml_open(&n, "libc.so.6"));
    assert_string_equal(n.why, "nvmlInit_v2: the driver's library has no such function");
    tell((struct fake_nvml){ .init = LOST });
    assert_false(nvml_open(&n, library));
    assert_string_equal(n.why, "nvmlInit_v2: GPU is lost");
    nvml_close(&n);
    assert_int_equal(fake->shutdowns, 0);
}

static void a_device_is_found_by_what_it_is_called(void **state)
{
    (void)state;
    struct nvml n;
    nvml_device device;
    tell(usual);
    assert_true(nvml_open(&n, library));
    assert_int_equal(fake->inits, 1);
    assert_true(nvml_find(&n, uuid, &device));
    assert_string_equal(fake->found, "uuid GPU-5d8e1f00-0000-0000-0000-000000000000");
    assert_true(nvml_find(&n, "00000000:65:00.0", &device));
    assert_string_equal(fake->found, "pci 00000000:65:00.0");
    fake->find = LOST;
    assert_false(nvml_find(&n, uuid, &device));
    assert_string_equal(n.why, "nvmlDeviceGetHandleByUUID: GPU is lost");
    nvml_close(&n);
    assert_int_equal(fake->shutdowns, 1);
}

/* A device of the fake. */
static nvml_device begin(struct nvml *n)
{
    nvml_device device = NULL;
    tell(usual);
    assert_true(nvml_open(n, library));
    assert_true(nvml_find(n, uuid, &device));
    return device;
}

static void memory_is_that_of_the_device(void **state)
{
    (void)state;
    struct nvml n;
    uint64_t used = 7, total = 7;
    nvml_device device = begin(&n);
    assert_true(nvml_memory(&n, device, &used, &total));
    assert_int_equal(used, 400);
    assert_int_equal(total, 1000);
    fake->used = 1001;
    assert_false(nvml_memory(&n, device, &used, &total));
    assert_int_equal(used, 400); /* nothing is written */
    fake->memory = LOST;
    assert_false(nvml_memory(&n, device, &used, &total));
    assert_string_equal(n.why, "nvmlDeviceGetMemoryInfo: GPU is lost");
    nvml_close(&n);
}

static void utilisation_is_a_share(void **state)
{
    (void)state;
    struct nvml n;
    double percent = 7;
    nvml_device device = begin(&n);
    assert_true(nvml_utilisation(&n, device, &percent));
    assert_true(percent == 30);
    fake->percent = 101;
    assert_false(nvml_utilisation(&n, device, &percent));
    fake->utilisation = 3;
    assert_false(nvml_utilisation(&n, device, &percent));
    assert_string_equal(n.why, "nvmlDeviceGetUtilizationRates: Not Supported");
    nvml_close(&n);
}

static void processes_are_counted(void **state)
{
    (void)state;
    struct nvml n;
    uint32_t count = 7;
    uint64_t bytes = 7;
    nvml_device device = begin(&n);
    assert_true(nvml_processes(&n, device, 42, &count, &bytes));
    assert_int_equal(count, 0);
    assert_int_equal(bytes, 0);
    fake->count = 3;
    fake->pid = 42;
    fake->process_bytes = 99;
    assert_true(nvml_processes(&n, device, 42, &count, &bytes));
    assert_int_equal(count, 3);
    assert_int_equal(bytes, 99);
    fake->process_bytes = UINT64_MAX;
    assert_true(nvml_processes(&n, device, 42, &count, &bytes));
    assert_int_equal(bytes, UINT64_MAX);
    fake->count = 257; /* though it says that all is well */
    assert_false(nvml_processes(&n, device, 42, &count, &bytes));
    fake->processes = TOO_SMALL;
    assert_false(nvml_processes(&n, device, 42, &count, &bytes));
    assert_non_null(strstr(n.why, "more than 256 processes"));
    assert_int_equal(count, 3);
    nvml_close(&n);
}

static void without_memory_there_is_no_driver(void **state)
{
    (void)state;
    struct nvml n;
    tell(usual);
    fault_left = 0;
    assert_false(nvml_open(&n, library));
    fault_left = -1;
    assert_string_equal(n.why, "NVML: out of memory");
    assert_int_equal(fake->inits, 0);
    nvml_close(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_that_is_not_there_is_a_reason),
        cmocka_unit_test(a_device_is_found_by_what_it_is_called),
        cmocka_unit_test(memory_is_that_of_the_device),
        cmocka_unit_test(utilisation_is_a_share),
        cmocka_unit_test(processes_are_counted),
        cmocka_unit_test(without_memory_there_is_no_driver),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
