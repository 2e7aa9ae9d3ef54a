#include <vramscope/version.h>

const char *vrs_version(void)
{
    return VRAMSCOPE_VERSION;
}
