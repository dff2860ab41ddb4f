#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of MPICH's own test suite twice, without and with gputrace, and compares outcomes.

    suite.py --mpiexec CMD --built DIR --source DIR --work DIR [--limit SECONDS] [FOLDER...]

DIR has the built tests in folders with lists of what to run (testlist: NAME RANKS key=value...). The
outcome of a test is its exit status, whether it says "No Errors", and whether it came to an end. A test
whose outcome differs is run up to three times more both ways, as some tests fail by themselves now and
then; it differs if the two kinds of run have no outcome in common. The archive of each run that
passed must pass `gputrace check`.

Limits: programs that were not built are counted and left out.
"""
import argparse
import os
import shutil
import subprocess
import sys


def entries(options, folder):
    """(name, ranks, arguments, variables) of each line of a folder's list."""
    path = os.path.join(options.built, folder, "testlist")
    if not os.path.exists(path):
        path = os.path.join(options.source, folder, "testlist")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) < 2 or not words[1].isdigit():
                continue
            arguments = [w[4:] for w in words[2:] if w.startswith("arg=")]
            variables = dict(w[4:].split("=", 1) for w in words[2:] if w.startswith("env=") and w.count("=") > 1)
            yield words[0], int(words[1]), arguments, variables


def outcome(options, folder, test, trace):
    name, ranks, arguments, variables = test
    command = options.mpiexec.split() + ["-np", str(ranks), "./" + name] + arguments
    if trace:
        shutil.rmtree(trace, ignore_errors=True)
        command = ["gputrace", "run", "-q", "-o", trace] + command
    environment = dict(os.environ, **variables)
    with open(os.path.join(options.work, "out"), "w+", encoding="utf-8", errors="replace") as out:
        with subprocess.Popen(command, cwd=os.path.join(options.built, folder), stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, env=environment, start_new_session=True) as process:
            try:
                status = process.wait(options.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 15)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, 9)
                status = "timeout"
        out.seek(0)
        text = out.read()
    return (status, "No Errors" in text or "No errors" in text), text


def sound(trace):
    """Does the archive pass? The complaint if it does not."""
    if not os.path.exists(os.path.join(trace, "traces.otf2")):
        return "no archive"
    done = subprocess.run(["gputrace", "check", trace], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout[:1500]


def main():
    parser = argparse.ArgumentParser()
    for name in ("mpiexec", "built", "source", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    for name in ("built", "source", "work"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    folders = options.folders or sorted(
        os.path.relpath(path, options.built) for path, _, files in os.walk(options.built)
        if "Makefile" in files and not any(x in path for x in ("f77", "f90", "f08", "cxx", "/util", "/bench", "/perf")))
    trace = os.path.join(options.work, "trace")
    ran = differ = unsound = missing = passed = 0
    for folder in folders:
        for test in entries(options, folder):
            if not os.access(os.path.join(options.built, folder, test[0]), os.X_OK):
                missing += 1
                continue
            label = " ".join(["%s/%s -np %d" % (folder, test[0], test[1])] + test[2])
            without, _ = outcome(options, folder, test, None)
            with_it, text = outcome(options, folder, test, trace)
            ran += 1
            seen = {without}, {with_it}
            while not seen[0] & seen[1] and outcome.tries < 3:
                outcome.tries += 1
                seen[0].add(outcome(options, folder, test, None)[0])
                with_it, text = outcome(options, folder, test, trace)
                seen[1].add(with_it)
            outcome.tries = 0
            if not seen[0] & seen[1]:
                differ += 1
                print("DIFFERS %s: %s without, %s with gputrace" % (label, sorted(seen[0], key=str), sorted(seen[1], key=str)))
                print("    " + "\n    ".join(text.splitlines()[:8]))
            if with_it == (0, True):
                passed += 1
                complaint = sound(trace)
                if complaint:
                    unsound += 1
                    print("UNSOUND %s\n    %s" % (label, complaint.replace("\n", "\n    ")))
            sys.stdout.flush()
    print("%d tests ran, %d passed, %d differ, %d archives are not sound, %d were not built" %
          (ran, passed, differ, unsound, missing))
    sys.exit(1 if differ or unsound or not ran else 0)


outcome.tries = 0
main()
