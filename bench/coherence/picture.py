#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: picture.py RESULT.json PICTURE.svg

Draws what `handlepool-coherence --json RESULT.json` has counted: transfers between caches for an object (emplace and erase) by
the number of simulated threads, of all contenders; and where those of the pool's emplace come from.
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# The same bytes for the same result.
matplotlib.rcParams["svg.hashsalt"] = "handlepool"

SHOWN_ARRAYS = 5


def of_object(run):
    return sum(run["operations"][name]["transfers"] for name in ("emplace", "erase"))


def draw_contenders(axes, runs):
    for contender in dict.fromkeys(run["contender"] for run in runs):
        own = [run for run in runs if run["contender"] == contender]
        axes.plot([run["threads"] for run in own], [of_object(run) for run in own], marker="o", label=contender)
    axes.set_xscale("log", base=2)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set_title("emplace + erase, all contenders")
    axes.set_ylabel("transfers between caches an object")


def draw_arrays(axes, runs):
    runs = [run for run in runs if run["contender"] == "pool"]
    threads = [run["threads"] for run in runs]
    arrays = {}
    for i, run in enumerate(runs):
        for name, counts in run["operations"]["emplace"]["arrays"].items():
            arrays.setdefault(name, [0] * len(runs))[i] = counts["transfers"]
    ranked = sorted(arrays, key=lambda name: (-arrays[name][-1], name))
    shown = {name: arrays[name] for name in ranked[:SHOWN_ARRAYS]}
    shown["others"] = [sum(arrays[name][i] for name in ranked[SHOWN_ARRAYS:]) for i in range(len(runs))]
    axes.stackplot(threads, shown.values(), labels=shown.keys())
    axes.set_xscale("log", base=2)
    axes.set_title("emplace of the pool, by array")


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) == 2 and sys.argv[1] in ("-h", "--help") else 2
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    runs = [run for run in runs if run["erase"] == runs[0]["erase"]]
    figure, both = plt.subplots(1, 2, figsize=(11, 4.2))
    draw_contenders(both[0], runs)
    draw_arrays(both[1], runs)
    threads = sorted({run["threads"] for run in runs})
    for axes in both:
        axes.set_xlabel("simulated threads")
        axes.set_xticks(threads, [str(count) for count in threads])
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None, "Creator": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
