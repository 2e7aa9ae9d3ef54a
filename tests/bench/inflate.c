/* inflate.c - unpacks a gzip file and does nothing with it: the yardstick of packed traces.
 *
 * usage: inflate FILE
 *
 * By the library that the program is linked with, through buffers of the size that it uses. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <zlib.h>

enum { BUFFER_BYTES = 1 << 18 };

static uint8_t packed[BUFFER_BYTES], unpacked[BUFFER_BYTES];

/* Of one member; false where the file is none, or damaged. */
static bool inflate_all(int fd, uint64_t *ret_bytes)
{
    z_stream z = { .next_in = packed };
    int code = inflateInit2(&z, 15 + 16);
    *ret_bytes = 0;
    while (code == Z_OK) {
        if (z.avail_in == 0) {
            ssize_t got = read(fd, packed, sizeof packed);
            if (got <= 0)
                break;
            z.next_in = packed;
            z.avail_in = (uInt)got;
        }
        z.next_out = unpacked;
        z.avail_out = sizeof unpacked;
        code = inflate(&z, Z_NO_FLUSH);
        *ret_bytes += sizeof unpacked - z.avail_out;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    uint64_t bytes;
    if (fd < 0 || !inflate_all(fd, &bytes)) {
        fputs("usage: inflate FILE, of one gzip member\n", stderr);
        return 2;
    }
    printf("{\"bytes\": %" PRIu64 "}\n", bytes);
    return close(fd) == 0 ? 0 : 3;
}
