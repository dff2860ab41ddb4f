# SPDX-License-Identifier: BSD-3-Clause
"""What is in a page or in what `gputrace view` serves: tiles, as doc/page-data.md describes them.

Limits: reads all of it at once.
"""
import base64
import html.parser
import json
import struct
import sys
import zlib

CALLS, WAITS, PATH, TRACK, LINKS, TREE, SAMPLES = range(7)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def number(self):
        n = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    def numbers(self, n):
        return tuple(self.number() for _ in range(n))

    def double(self):
        self.at += 8
        return struct.unpack_from("<d", self.data, self.at - 8)[0]

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]


def unpack(data):
    """{(kind, row, level, tile): bytes} of a pack."""
    tiles, at = {}, Bytes(data)
    while at:
        kind, row, level, tile, length = at.numbers(5)
        assert (kind, row, level, tile) not in tiles, "a tile is there twice"
        tiles[kind, row, level, tile] = at.take(length)
    return tiles


def spans(meta, level, tile, data):
    """Spans (begin, end, region, depth), buckets (depth, bucket, region, cover, count), sums of kinds 0 to 2."""
    return copies(meta, level, tile, data)[:3]


def samples(meta, level, tile, data):
    """Samples and buckets of kind 6; these have the region's share, how many are as exact, and a context behind them."""
    return copies(meta, level, tile, data, 3)[:2]


def copies(meta, level, tile, data, more=0):
    """The same, and the bytes of spans by their places; buckets with so many numbers more."""
    at, out, buckets, sums = Bytes(data), [], [], {}
    end = tile << meta["span_log2"] - level
    for _ in range(at.number()):
        delta, length, region, depth = at.numbers(4)
        end += delta
        out.append((end - length, end, region, depth))
    for _ in range(at.number()):
        depth, n = at.numbers(2)
        bucket = 0
        for _ in range(n):
            delta, *rest = at.numbers(4 + more)
            bucket += delta
            buckets.append((depth, bucket, *rest))
    region = 0
    for _ in range(at.number()):
        delta, count, ns, size, below = at.numbers(5)
        region += delta
        sums[region] = (count, ns, size, ns + below)
    sizes, place = {}, 0
    for _ in range(at.number() if at else 0):
        delta, size = at.numbers(2)
        place += delta
        sizes[place] = size
    assert not at and all(place < len(out) for place in sizes), "something is behind the tile"
    return out, buckets, sums, sizes


def curve(data):
    at, out, bucket = Bytes(data), [], 0
    for _ in range(at.number()):
        delta, count = at.numbers(2)
        bucket += delta
        out.append((bucket, count, at.double(), at.double(), at.double()))
    assert not at
    return out


def links(meta, level, tile, data):
    at, out, bundles = Bytes(data), [], []
    first = begin = tile << meta["span_log2"] - level
    for _ in range(at.number()):
        kind, delta, length, *rest = at.numbers(8)
        begin += delta
        out.append((kind, begin, begin + length, *rest))
    for _ in range(at.number()):
        kind, source, target, count, size, begin, end = at.numbers(7)
        bundles.append((kind, source, target, count, size, first + begin, first + end))
    assert not at
    return out, bundles


def tree(data):
    """Nodes (parent, region, calls, inclusive, exclusive); parents are places + 1."""
    at = Bytes(data)
    out = [at.numbers(5) for _ in range(at.number())]
    assert not at
    return out


class Blocks(html.parser.HTMLParser):
    """The scripts of a page, by their ids; all tags with attributes."""

    def __init__(self):
        super().__init__()
        self.blocks, self.tags, self.open = {}, [], None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.open = attrs.get("id") if tag == "script" else None
        if tag == "script":
            self.blocks[self.open] = ""

    def handle_endtag(self, tag):
        self.open = None if tag == "script" else self.open

    def handle_data(self, data):
        if self.open is not None:
            self.blocks[self.open] += data


class Page:
    def __init__(self, text):
        parser = Blocks()
        parser.feed(text)
        self.tags, self.blocks = parser.tags, parser.blocks
        self.meta = json.loads(self.blocks["gt-meta"])
        self.report = json.loads(self.blocks.get("gt-report", "null"))
        self.flow = json.loads(self.blocks.get("gt-flow", "null"))
        self.tiles = {}
        for level in range(self.meta["page_levels"] if self.meta["mode"] == "html" else 0):
            pack = unpack(zlib.decompress(base64.b64decode(self.blocks["gt-pack-%d" % level], validate=True)))
            assert all(key[2] == level for key in pack)
            self.tiles.update(pack)

    def each(self, kind, row=None, level=None):
        for (k, r, lv, tile), data in sorted(self.tiles.items()):
            if k == kind and row in (None, r) and level in (None, lv):
                yield r, lv, tile, data

    def sums(self, level=0, rows=None):
        """Calls, exclusive ns, bytes and inclusive ns by region."""
        out = {}
        for row, lv, tile, data in self.each(CALLS, level=level):
            if rows is not None and row not in rows:
                continue
            for region, values in spans(self.meta, lv, tile, data)[2].items():
                out[region] = tuple(a + b for a, b in zip(out.get(region, (0, 0, 0, 0)), values))
        return out


def main(path):
    with open(path, encoding="utf-8") as file:
        page = Page(file.read())
    kinds = {}
    for (kind, _, level, _), data in page.tiles.items():
        kinds.setdefault((kind, level), []).append(len(data))
    for key, sizes in sorted(kinds.items()):
        print("kind %d level %d: %d tiles, %d bytes" % (*key, len(sizes), sum(sizes)))


if __name__ == "__main__":
    main(*sys.argv[1:])
