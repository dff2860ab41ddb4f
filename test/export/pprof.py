#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is in a profile of pprof's, read as profile.proto says.

    pprof.py PROFILE            a line for each sample, sorted: labels, path (innermost first), its values
    pprof.py --flat PROFILE     the values of each innermost function, sorted

Exits with a sentence if it breaks a rule: strings begin with the empty one, numbers are not 0, and defined
once; a sample has a value for each type; pprof need not look for names in files."""
import sys

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = range(1, 7)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
            if at > len(data):
                sys.exit("a field is longer than its message")
        elif tag & 7:
            sys.exit(f"wire type {tag & 7}")
        yield tag >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def table(profile, field):
    found = {}
    for number, data in profile:
        if number == field:
            message = dict(fields(data))
            if not message.get(1) or message[1] in found:
                sys.exit(f"field {field}: number {message.get(1)}")
            found[message[1]] = message
    return found


def main(flat, path):
    profile = list(fields(open(path, "rb").read()))
    strings = [value.decode() for number, value in profile if number == STRING]
    if strings[0]:
        sys.exit("the first string is not empty")
    mappings, locations, functions = (table(profile, field) for field in (MAPPING, LOCATION, FUNCTION))
    types = [[strings[value] for _, value in fields(data)] for number, data in profile if number == SAMPLE_TYPE]
    if types != [["samples", "count"], ["cpu", "nanoseconds"]]:
        sys.exit(f"types {types}")
    for mapping in mappings.values():
        if not (mapping[7] and mapping[8] and mapping[9]):
            sys.exit("a mapping without symbols")

    def frame(number):
        location = locations[number]
        line = dict(fields(location[4]))
        function = functions[line[1]]
        file, start = strings[function.get(4, 0)], function.get(5, 0)
        mapping = strings[mappings[location[2]][5]] if 2 in location else ""
        return strings[function[2]], f"{file}:{start}:{line.get(2, 0)}@{mapping}"

    rows, sums = [], {}
    for number, data in profile:
        if number != SAMPLE:
            continue
        sample, labels = dict(fields(data)), []
        for field, label in fields(data):
            if field == 3:
                label = dict(fields(label))
                if 2 not in label and 4 not in label:
                    sys.exit("a number without a unit, which pprof drops if it is 0")
                labels.append(f"{strings[label[1]]}={strings[label[2]] if 2 in label else label.get(3, 0)}")
        frames, values = [frame(number) for number in packed(sample[1])], list(packed(sample[2]))
        if len(values) != len(types):
            sys.exit(f"{len(values)} values")
        rows.append(f"{','.join(labels)} {' '.join(' '.join(f) for f in frames)} {values[0]} {values[1]}")
        sums.setdefault(frames[0][0], [0, 0])
        sums[frames[0][0]] = [a + b for a, b in zip(sums[frames[0][0]], values)]
    if flat:
        rows = [f"{name} {n} {ns}" for name, (n, ns) in sums.items()]
    print(*sorted(rows), sep="\n")


main(sys.argv[1] == "--flat", sys.argv[-1])
