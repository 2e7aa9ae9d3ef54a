"""Reads the PNG files that vramscope writes: eight bits, colours or a palette, no interlace."""
import struct
import zlib


class Png:
    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed, self.texts, palette = 8, b"", {}, []
        kinds = []
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
            at += 12 + size
            kinds.append(kind)
            if kind == b"IHDR":
                self.width, self.height, depth, colours, *rest = struct.unpack(">IIBBBBB", body)
                assert depth == 8 and colours in (2, 3) and rest == [0, 0, 0]
            elif kind == b"PLTE":
                palette = [tuple(body[i:i + 3]) for i in range(0, size, 3)]
            elif kind == b"IDAT":
                packed += body
            elif kind == b"iTXt":
                key, text = body.split(b"\0", 1)
                assert text[:4] == b"\0\0\0\0"
                self.texts[key.decode()] = text[4:].decode()
        assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND" and at == len(data)
        self.rows = list(self._rows(zlib.decompress(packed), 1 if palette else 3, palette))

    def _rows(self, data, width, palette):
        stride = self.width * width + 1
        assert len(data) == stride * self.height
        for y in range(self.height):
            line = bytearray(data[y * stride:(y + 1) * stride])
            kind = line.pop(0)
            assert kind in (0, 1)
            for i in range(width if kind else len(line), len(line)):
                line[i] = (line[i] + line[i - width]) & 255
            yield ([palette[i] for i in line] if palette else
                   [tuple(line[i:i + 3]) for i in range(0, len(line), 3)])
