# SPDX-License-Identifier: BSD-3-Clause
"""answers.py NAME FOLDER: is what is said of a program of answers.c so?

FOLDER has said (what the program said), report.json, report (text), summary and timeline. Prints "ok" or
"not ok" with each claim. Claims compare figures of one run with each other and with what the program clocked.

Limits: a busy machine wakes who waits later than what he waited for: classes of waits leave that out.
"""
import json
import re
import sys

NEAR = 0.05
# Findings, all of them; functions that are on the path as long as they take; threads that work, where no load
# changes that; the class of the waits that the program clocked, and how much of them it has at least.
ANSWERS = {
    "late": (["late-thread"], [], 4, None, 0),
    "even": ([], [], 4, None, 0),
    "tail": (["tail"], [], 4, None, 0),
    "serial": (["serial-part"], ["alone"], 3, None, 0),
    "startup": (["startup"], ["alone"], 5, None, 0),
    "in_turn": (["serial-part"], ["work"], 0, None, 0),
    "beside": ([], [], 2, "thread join", 0.9),
    "lock": (["lock-convoy"], [], 4, "lock contention", 0.8),
    "locks": ([], [], 4, None, 0),
    "writer": ([], [], 0, "lock contention", 0.95),
    "pipeline": (["limiting-stage"], [], 0, "condition wait", 0.8),
    "semaphores": (["limiting-stage"], [], 2, "semaphore wait", 0.8),
    "children": ([], [], 0, "wait for child process", 0.8),
    "held": ([], ["inside"], 0, "lock contention", 0.9),
    "written": ([], ["inside"], 0, "lock contention", 0.9),
    "condlock": ([], [], 4, "condition wait", 0.9),
    "bounded": (["limiting-stage"], [], 4, "condition wait", 0.9),
    "served": ([], [], 0, "condition wait", 0.9),
    "result": (["limiting-stage"], [], 2, "condition wait", 0.9),
    "both": (["limiting-stage"], ["alone"], 4, "condition wait", 0.9),
}
# Functions of the program's own, which do what it does.
WORKS = ["work", "alone", "inside", "outside", "read_item", "pack_item", "write_item"]


def near(a, b, least=0.002):
    """Are two times (s) as good as equal?"""
    return a is not None and b is not None and abs(a - b) <= max(NEAR * max(abs(a), abs(b)), least)


class Judge:
    """Of one run."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        with open(f"{folder}/report.json", encoding="utf-8") as file:
            self.report = json.load(file)
        said = (line.split() for line in self.text("said").splitlines())
        self.said = {what: int(ns) / 1e9 for what, ns in said}
        self.own = {r["name"]: r["exclusive_s"] for r in self.report["regions"]}
        self.path = {r["region"]: r for r in self.report["critical_path"]}
        self.classes = {r["class"]: r["seconds"] for r in self.report["wait_classes"]}
        self.call = list(self.said)[-1]  # that it waits in

    def text(self, name):
        """What a face has said."""
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()

    def claim(self, holds, text, *figures):
        """Prints it, and the figures if it is not so."""
        print("ok" if holds else "not ok", f"{self.name}: {text}", *(figures if not holds else ()))

    def on_path(self, region):
        """Seconds."""
        return self.path[region]["seconds"] if region in self.path else 0

    def times(self):
        """What calls took, and who was waited for."""
        _, path, _, wait, least = ANSWERS[self.name]
        duration = self.report["duration_s"]
        total = sum(r["seconds"] for r in self.path.values())
        self.claim(abs(total - duration) < 1e-6, "the path is as long as the run", total, duration)
        clocked = self.said[self.call]
        self.claim(near(self.own.get(self.call, 0), clocked), "waits took what the program clocked",
                   self.call, self.own.get(self.call), clocked)
        for region in path:
            self.claim(near(self.on_path(region), self.own[region]), f"all of {region} is on the path",
                       self.on_path(region), self.own[region])
        if wait:
            seconds = self.classes.get(wait, 0)
            self.claim(least * clocked - 0.005 <= seconds <= clocked * (1 + NEAR) + 0.005, f"it is {wait}",
                       seconds, clocked)
        idle = sum(r["idle_s"] or 0 for r in self.report["regions"])
        self.claim(near(idle, self.said["idle"]), "only waits for work are idle", idle, self.said)
        self.claim(near(sum(c["idle_s"] or 0 for c in self.report["wait_classes"]), idle),
                   "waits say the same", self.report["wait_classes"], idle)
        self.claim("sleep" not in self.classes, "no wait is called sleep", self.classes)

    def special(self):
        """What is so of one of them only."""
        if self.name in ("late", "even"):
            barrier = self.classes.get("wait at thread barrier", 0)
            self.claim(near(barrier, self.said["early"], 0.005), "who comes early waits for the last one",
                       barrier, self.said["early"])
            self.claim(near(self.on_path("work"), self.said["longest"], 0.005),
                       "the last one's work is on the path", self.on_path("work"), self.said["longest"])
        if self.name == "serial":
            self.claim(near(self.path["alone"]["gain_s"], self.own["alone"]),
                       "all of the serial part would gain", self.path["alone"], self.own["alone"])
        if self.name == "beside" and self.said["pthread_join"] > 0.01:
            self.claim(near(self.on_path("work"), self.own["work"]), "the path is what was waited for",
                       self.on_path("work"), self.own)
            self.claim(near(self.path["work"]["gain_s"], self.said["pthread_join"], 0.005),
                       "and would gain what was waited for it", self.path["work"], self.said)
        if self.name in ("held", "written"):
            wait = [w for w in self.report["waits"] if w["class"] == "lock contention"]
            self.claim(len(wait) == 1 and wait[0]["cause_location"] == "Thread 1" and
                       "inside" in (wait[0]["cause"] or ""), "the wait names the holder", wait)
        if self.name == "held":
            lock = self.report["locks"]
            self.claim(len(lock) == 1 and lock[0]["holder"] == "Thread 1" and
                       near(lock[0]["holder_s"], self.said["pthread_mutex_lock"]),
                       "so does the lock", lock, self.said)
        if self.name == "lock":
            lock = self.report["locks"][0] if self.report["locks"] else {"wait_s": 0, "waits": 0}
            text = next((f["text"] for f in self.report["findings"] if f["id"] == "lock-convoy"), "")
            self.claim(near(lock["wait_s"], self.said["pthread_mutex_lock"]), "the lock has the same waits",
                       lock, self.said)
            self.claim(f" {lock['waits']} times" in text, "the finding has all of them", text, lock)

    def starved(self):
        """Had threads often no processor? They are not said to work then."""
        states = self.report["thread_states"]
        return sum(s["ready_s"] for s in states) > 0.05 * sum(s["lifetime_s"] for s in states)

    def kept_waiting(self):
        """Had they none for a fifth of the time in which they could run? Then that is a finding, or two."""
        states = self.report["thread_states"]
        ready = sum(s["ready_s"] for s in states)
        return ready >= 0.2 * (ready + sum(s["running_s"] for s in states))

    def conclusions(self):
        """Efficiencies and findings, by all that say them."""
        findings, _, lanes, _, _ = ANSWERS[self.name]
        had = [f["id"] for f in self.report["findings"]]
        found = [id for id in had if id not in ("starvation", "oversubscription")]
        self.claim(found == had or self.kept_waiting(), "who is said to have no processor waited for one", had)
        silent = not found and self.starved() and findings != ["lock-convoy"]
        self.claim(found == findings or silent, "what is found", found, findings)
        for finding in self.report["findings"]:
            self.claim(finding["id"] == "oversubscription" and finding["seconds"] is None or
                       0 < finding["seconds"] < self.report["duration_s"], "it gains less than the run", finding)
            self.claim(finding["id"] in self.text("report"), "text says it, too")
            summary = self.text("summary")
            self.claim(finding["text"] in summary, "the summary says it, too", summary)
        efficiencies = self.report["efficiencies"] or {}
        if not lanes:
            return
        useful = sum(self.own.get(name, 0) for name in WORKS)
        said = efficiencies["parallel_efficiency"]
        right = useful / efficiencies["lanes"] / self.report["duration_s"]
        # The first thread is one more if it came late to what it waits for. A thread that has to wait for a
        # processor between calls counts as useful there: nothing is known of that time ("seen").
        self.claim(efficiencies["lanes"] in (lanes, lanes + 1) and
                   right - 0.03 < said < right + 0.03 + 1 - efficiencies["seen"],
                   "parallel efficiency is work by threads and duration", efficiencies, right)
        self.claim(re.search(rf"parallel efficiency {said * 100:.0f} %", self.text("summary")),
                   "the summary has the same", said)

    def timeline(self):
        """Its share of code is that of lives."""
        lives = sum(place["duration_s"] for place in self.report["locations"])
        code = sum(r["exclusive_s"] for r in self.report["regions"] if r["class"] == "code")
        found = re.search(r"= code ([0-9.]+) %", self.text("timeline"))
        idle = sum(r["idle_s"] or 0 for r in self.report["regions"])
        self.claim(found and abs(float(found[1]) / 100 - code / (lives - idle)) < 0.005,
                   "timeline has the same share of work", found and found[0], code / (lives - idle))


def main():
    """Prints all claims."""
    judge = Judge(*sys.argv[1:3])
    judge.times()
    judge.special()
    judge.conclusions()
    judge.timeline()


main()
