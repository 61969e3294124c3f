"""A picture and a sound made from numbers, so that no binary file has to be shipped."""

from __future__ import annotations

import struct
import zlib

PNG = "image/png"
WAV = "audio/wav"


def png(side: int) -> bytes:
    """A square PNG of ``side`` pixels with a disc on a gradient."""
    middle, radius = side / 2, side * 0.38
    rows = bytearray()
    for y in range(side):
        rows.append(0)
        for x in range(side):
            inside = (x + 0.5 - middle) ** 2 + (y + 0.5 - middle) ** 2 < radius**2
            rows += bytes((240, 190, 60) if inside else (30 + 120 * y // side, 60, 90 + 130 * x // side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    packed = zlib.compress(bytes(rows), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def wav(samples: int = 800) -> bytes:
    """A tenth of a second of a square tone: 8 kHz, 8 bit, one channel."""
    data = bytes(160 if n // 9 % 2 else 96 for n in range(samples))
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body
