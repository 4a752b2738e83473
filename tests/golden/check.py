#!/usr/bin/env python3
"""Runs every golden case against cfgc, and holds pending.txt to the truth.

A case that is not listed in pending.txt must pass; a case that is listed must fail. So the list can only shrink:
whoever makes a case pass also takes it off the list. A case with a quirk must do what is safe if docs/DIFFERENCES.md
has it in its table, and otherwise exactly what 3proxy does: so every difference stands there. A case that a correct
engine refuses is judged without `--allow all`: what is allowed is done.

    check.py                     all cases
    check.py --topic acl-dst     only topics that start so
    check.py --update            takes the listed cases that pass now off the list, and writes the table of differences
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import differences

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def read_cases(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_pending(path):
    """The ids on the list; every one stands in a group that says why."""
    pending, reason = [], None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if line.startswith("#"):
                reason = line
            elif not line:
                reason = None
            elif reason is None:
                sys.exit("%s:%d: no reason (a `#` line) above %s" % (path, number, line))
            else:
                pending += line.split()
    twice = [i for i, n in collections.Counter(pending).items() if n > 1]
    if twice:
        sys.exit("%s: listed twice: %s" % (path, " ".join(twice)))
    return pending


def drop_from_pending(path, ids):
    """Takes ids off the list, and groups that have none left with them."""
    with open(path, encoding="utf-8") as text:
        groups = text.read().strip("\n").split("\n\n")
    kept = []
    for group in groups:
        lines = group.split("\n")
        listed = [i for line in lines if not line.startswith("#") for i in line.split()]
        left = [i for i in listed if i not in ids]
        if listed and not left:
            continue
        comments = [line for line in lines if line.startswith("#")]
        rows = [" ".join(left[k:k + 8]) for k in range(0, len(left), 8)]
        kept.append("\n".join(comments + rows))
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n\n".join(kept) + "\n")


def run_safe(args, cases, retries):
    """As `run`, by what is safe."""
    refused = [case for case in cases if case["safe_expect"].get("loads") is False]
    served = [case for case in cases if case not in refused]
    passed, why = run(args, refused, "safe", retries, args.cmd.replace(" --allow all", ""))
    also, why_also = run(args, served, "safe", retries)
    return {**passed, **also}, {**why, **why_also}


def run(args, cases, quirks, retries, cmd=None):
    """The runner over `cases`: {id: passed}, and the lines that say why the failed ones failed."""
    if not cases:
        return {}, {}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as subset:
        subset.write("".join(json.dumps(case) + "\n" for case in cases))
    command = [sys.executable, os.path.join(HERE, "run_golden.py"), "--cmd", cmd or args.cmd, "--cases", subset.name,
               "--quirks", quirks, "--jobs", str(args.jobs), "--retries", str(retries)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    finally:
        os.unlink(subset.name)
    passed, why, current = {}, collections.defaultdict(list), None
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASS", "FAIL"):
            current = rest.split(" ")[0]
            passed[current] = word == "PASS"
        if word in ("FAIL", "") and current is not None:
            why[current].append(line)
    unjudged = [case["id"] for case in cases if case["id"] not in passed]
    if unjudged:
        sys.exit("the runner did not judge: %s\n%s" % (" ".join(unjudged), done.stdout[-2000:]))
    return passed, why


def steady(args, cases):
    """Which of the listed cases do what 3proxy does or what is safe: those that draw lots three times over."""
    for turn in range(3):
        again = [case for case in cases if turn == 0 or any("repeat" in step for step in case["steps"])]
        exact, _ = run(args, again, "exact", 0)
        safe, _ = run_safe(args, [case for case in again if case.get("safe_expect") and not exact[case["id"]]], 0)
        cases = [case for case in cases if case not in again or exact[case["id"]] or safe.get(case["id"])]
    return [case["id"] for case in cases]


def judge(args, cases, safe):
    """The cases that must pass, each by what it must do: `safe` holds the ids that the page of differences names."""
    passed, why = run_safe(args, [case for case in cases if case["id"] in safe], args.retries)
    exact, why_exact = run(args, [case for case in cases if case["id"] not in safe], "exact", args.retries)
    return {**passed, **exact}, {**why, **why_exact}


def update(args, cases, stale, failed, safe):
    """Takes `stale` off the pending list, and finds out which cases do what is safe; the others do what 3proxy does."""
    drop_from_pending(args.pending, set(stale))
    changed = [case for case in cases if case.get("safe_expect") and case["id"] in set(stale) | set(failed)]
    passed, _ = run_safe(args, changed, 1)
    differences.write(read_cases(args.cases), (safe - set(passed)) | {case for case, ok in passed.items() if ok})
    print("off the list: %s" % " ".join(stale))


def summary(cases, passed):
    """A line for each topic: passed of all."""
    topics = collections.OrderedDict()
    for case in sorted(cases, key=lambda case: case["topic"]):
        n, of = topics.get(case["topic"], (0, 0))
        topics[case["topic"]] = (n + (case["id"] in passed), of + 1)
    return ["  %-18s %3d of %3d%s" % (topic, n, of, "" if n == of else "  (%d pending or failed)" % (of - n))
            for topic, (n, of) in topics.items()]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    binary = os.path.join(ROOT, "target", "debug", "cfgc")
    ap.add_argument("--cmd", default=binary + " run --allow all {CONFIG}", help="how the program is started")
    ap.add_argument("--cases", default=os.path.join(HERE, "golden_dev.jsonl"))
    ap.add_argument("--pending", default=os.path.join(HERE, "pending.txt"))
    ap.add_argument("--topic", action="append", help="only topics that start so (repeatable)")
    ap.add_argument("--id", action="append", help="only these cases (repeatable)")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--retries", type=int, default=2, help="for cases that must pass, on a noisy machine")
    ap.add_argument("--update", action="store_true", help="take listed cases that pass off the list")
    args = ap.parse_args()

    cases = read_cases(args.cases)
    pending = set(read_pending(args.pending))
    unknown = sorted(pending - {case["id"] for case in cases})
    if unknown:
        sys.exit("%s: no such case: %s" % (args.pending, " ".join(unknown)))
    if args.topic:
        cases = [case for case in cases if any(case["topic"].startswith(topic) for topic in args.topic)]
    if args.id:
        cases = [case for case in cases if case["id"] in args.id]

    safe = differences.followed()
    wanted, why = judge(args, [case for case in cases if case["id"] not in pending], safe)
    listed = [case for case in cases if case["id"] in pending]
    stale = steady(args, listed)
    failed = sorted(case for case, ok in wanted.items() if not ok)
    if args.update:
        update(args, cases, stale, failed, safe)
        return 0
    for case in failed:
        print("\n".join(why[case]))
    passed = {case for case, ok in wanted.items() if ok} | set(stale)
    print("golden cases, by topic:")
    print("\n".join(summary(cases, passed)))
    for case in stale:
        print("PASSES BUT IS LISTED: %s (take it off pending.txt, or run check.py --update)" % case)
    print("golden: %d passed, %d failed, %d pending" % (len(passed), len(failed), len(listed) - len(stale)))
    return 1 if failed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
