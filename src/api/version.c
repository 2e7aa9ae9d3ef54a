/* version.c - the version, as the build says it. */
#include "vramscope/vramscope.h"

const char *vrs_version(void)
{
    return VRAMSCOPE_VERSION;
}
