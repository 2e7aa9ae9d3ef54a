#include <stdio.h>

#include <vramscope/version.h>

int main(void)
{
    fprintf(stderr, "vramscope %s: no verbs yet\n", vrs_version());
    return 2;
}
