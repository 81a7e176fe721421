#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of the public comparison: merges them, draws the pictures and writes the tables of docs/inside/performance.md.

usage: bench/peers/report.py merge INTO FROM...   merges what handlepool-peers wrote, and notes commit, machine and date
       bench/peers/report.py draw RESULTS         draws docs/inside/pictures/*.svg, and the tables between the page's markers
       bench/peers/report.py judged RESULTS       prints the judged row

examples:
  bench/peers/report.py merge bench/peers/results/peers.json build/peers/parts/*.json
  bench/peers/report.py draw bench/peers/results/peers.json
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs/inside/performance.md"
PICTURES = PROJECT / "docs/inside/pictures"
COMMON = 100_000

# Contenders: what a picture calls them, and in which of two groups they are drawn. Colours are those of Okabe and Ito,
# which the colour-blind can tell apart; marks differ as well.
SEQUENTIAL = {
    "handlepool::pool": ("pool", "#000000", "o"),
    "handlepool::stable_pool": ("stable_pool", "#7f7f7f", "s"),
    "packed array": ("packed array", "#0072B2", "^"),
    "plf::colony": ("plf::colony", "#009E73", "D"),
    "slotmap::SlotMap": ("SlotMap (Rust)", "#D55E00", "v"),
    "slotmap::DenseSlotMap": ("DenseSlotMap (Rust)", "#E69F00", "<"),
    "std::unordered_map": ("std::unordered_map", "#56B4E9", "P"),
    "std::map": ("std::map", "#CC79A7", "X"),
}
CONCURRENT = {
    "handlepool::pool": ("pool", "#000000", "o"),
    "handlepool::pool, parallel compaction": ("pool, parallel compaction", "#000000", "*"),
    "handlepool::stable_pool": ("stable_pool", "#7f7f7f", "s"),
    "packed array + std::mutex": ("packed array + mutex", "#0072B2", "^"),
    "packed array + std::shared_mutex": ("packed array + shared_mutex", "#0072B2", "2"),
    "slots + boost::lockfree::queue": ("slots + boost queue", "#E69F00", "v"),
    "slots + tbb::concurrent_queue": ("slots + tbb queue", "#E69F00", "<"),
    "slots + moodycamel::ConcurrentQueue": ("slots + moodycamel", "#E69F00", ">"),
    "sharded_slab::Slab": ("sharded-slab (Rust)", "#D55E00", "D"),
    "tbb::concurrent_hash_map": ("tbb::concurrent_hash_map", "#009E73", "h"),
    "cds::container::MichaelHashMap": ("libcds MichaelHashMap", "#009E73", "p"),
    "std::unordered_map + std::mutex": ("unordered_map + mutex", "#56B4E9", "P"),
    "std::map + std::mutex": ("map + mutex", "#CC79A7", "X"),
}


def fail(message):
    sys.exit(f"report.py: {message}")


def output_of(*command):
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()


def machine():
    """In general words: processor, how many, system."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()

    def field(name):
        found = re.search(rf"^{name}\s*: (.*)$", cpu, re.M)
        return found.group(1).strip() if found else "unknown"

    virtual = " of a virtual machine" if "hypervisor" in field("flags").split() else ""
    count = len(re.findall(r"^processor\s*:", cpu, re.M))
    system = re.search(r'^PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text(), re.M).group(1)
    return f"{count} cores{virtual}, {field('model name')} (family {field('cpu family')}, model {field('model')}), {system}"


def merge(into, sources):
    parts = [json.loads(pathlib.Path(source).read_text()) for source in sources]
    if not parts:
        fail("merge: there is nothing to merge")
    changed = " with changes" if output_of("git", "status", "--porcelain", "--", "include", "src", "bench/*.?pp", "bench/*.rs") else ""
    merged = {
        "commit": output_of("git", "rev-parse", "--short=12", "HEAD") + changed,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "compiler": parts[0]["compiler"],
        "flags": parts[0]["flags"],
        "rust": output_of("/usr/bin/rustc", "--version"),
        "rust_flags": "-C opt-level=3 -C codegen-units=1",
        "rounds": parts[0]["rounds"],
        "objects_a_round": parts[0]["objects_a_round"],
        "judged": next((part["judged"] for part in parts if "judged" in part), None),
        "results": [row for part in parts for row in part["results"]],
    }
    rows = ",\n".join(json.dumps(row) for row in merged.pop("results"))
    head = json.dumps(merged, indent=2)[:-2]
    pathlib.Path(into).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(into).write_text(f'{head},\n  "results": [\n{rows}\n]\n}}\n')


class Results:
    def __init__(self, file):
        try:
            self.all = json.loads(pathlib.Path(file).read_text())
        except (OSError, ValueError) as error:
            fail(f"{file}: {error}")

    def rows(self, part, alive=None, threads=None):
        return [
            row
            for row in self.all["results"]
            if row["part"] == part and alive in (None, row["alive"]) and threads in (None, row["threads"])
        ]

    def figure(self, part, alive, threads, contender, figure):
        """Median, or None if it was not measured."""
        for row in self.rows(part, alive, threads):
            if row["contender"] == contender and figure in row["figures"]:
                return row["figures"][figure]["median"]
        return None

    def line(self, group, figure, **where):
        """Of each contender of a group its points, as (x, lower, median, upper), along what `where` leaves open."""
        axis = "alive" if "threads" in where else "threads"
        lines = {}
        for row in self.rows("frames", **where):
            if row["contender"] in group and figure in row["figures"]:
                one = row["figures"][figure]
                lines.setdefault(row["contender"], []).append((row[axis], one["lower"], one["median"], one["upper"]))
        return {name: sorted(lines[name]) for name in group if name in lines}


# ---------------------------------------------------------------------------------------------------------------------
# Pictures

def plain(value):
    """10000 as "10,000"."""
    return f"{value:,.0f}"


def short(value):
    """A figure with two or three digits that count."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def spread_labels(axes, ends):
    """Writes labels at the right of lines, none over another: (y, text, colour)."""
    import numpy

    ends = sorted(ends)
    low, high = (numpy.log10(limit) for limit in axes.get_ylim())
    gap = (high - low) * 0.047
    places = [numpy.log10(end[0]) for end in ends]
    for _ in range(300):
        for i in range(len(places) - 1):
            lack = gap - (places[i + 1] - places[i])
            if lack > 0:
                places[i] -= lack / 2
                places[i + 1] += lack / 2
        if places and places[0] < low:
            places[0] = low
        if places and places[-1] > high:
            places[-1] = high
    for (y, text, colour), place in zip(ends, places):
        axes.annotate(
            text,
            xy=(1, (numpy.log10(y) - low) / (high - low)),
            xytext=(1.05, (place - low) / (high - low)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=8.5,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 0, "shrinkB": 2},
        )


def draw_lines(results, name, group, panels, where, xlabel, title):
    """A row of panels, (figure, heading) each; both axes logarithmic."""
    import matplotlib.pyplot as plt

    figure, all_axes = plt.subplots(1, len(panels), figsize=(6.1 * len(panels), 4.9), squeeze=False)
    for axes, (what, heading) in zip(all_axes[0], panels):
        ends = []
        ticks = set()
        for contender, points in results.line(group, what, **where).items():
            label, colour, mark = group[contender]
            ours = contender.startswith("handlepool")
            x = [point[0] for point in points]
            ticks.update(x)
            axes.plot(
                x, [point[2] for point in points], color=colour, marker=mark, markersize=7 if mark == "*" else 5,
                linewidth=2.2 if ours else 1.2, linestyle="--" if mark in "*2" else "-", zorder=3 if ours else 2,
            )
            axes.fill_between(x, [point[1] for point in points], [point[3] for point in points], color=colour,
                              alpha=0.1, linewidth=0)
            ends.append((points[-1][2], label, colour))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sorted(ticks), [short(tick) for tick in sorted(ticks)])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: short(value))
        low, high = axes.get_ylim()
        axes.set_yticks([tick for power in range(-1, 6) for tick in (10**power, 2 * 10**power, 5 * 10**power)
                         if low <= tick <= high])
        axes.set_ylim(low, high)
        axes.set_xlabel(xlabel)
        axes.set_ylabel("ns")
        axes.set_title(heading, fontsize=10.5, loc="left")
        axes.grid(True, alpha=0.25)
        spread_labels(axes, ends)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    figure.tight_layout(w_pad=1)
    save(figure, name)


def draw_tails(results, name, group, threads):
    """For each contender, from the median to the worst."""
    import matplotlib.pyplot as plt

    marks = [("50", "|", "50 %"), ("99", "o", "99 %"), ("99.9", "D", "99.9 %"), ("99.99", "s", "99.99 %"),
             ("worst", "X", "worst")]
    rows = {row["contender"]: row["figures"] for row in results.rows("latency", COMMON, threads)}
    shown = [contender for contender in group if contender in rows]
    if not shown:
        return
    figure, all_axes = plt.subplots(1, 3, figsize=(13, 0.36 * len(shown) + 2), sharey=True, sharex=True)
    for axes, kind in zip(all_axes, ("create", "erase", "find")):
        for y, contender in enumerate(shown):
            _, colour, _ = group[contender]
            values = [max(rows[contender][f"{kind}_{quantile}"]["median"], 1) for quantile, _, _ in marks]
            axes.plot([values[0], values[-1]], [y, y], color=colour, linewidth=1.2, alpha=0.6, zorder=1)
            for value, (_, mark, _) in zip(values, marks):
                axes.plot(value, y, mark, color=colour, markersize=11 if mark == "|" else 6, markeredgewidth=2
                          if mark == "|" else 0.6, markeredgecolor=colour if mark == "|" else "white", zorder=2)
            if kind == "create" and contender.startswith("handlepool"):
                pause = rows[contender]["frame_end_50"]["median"]
                axes.plot(pause, y, marker="$F$", linestyle="", color="#CC79A7", markersize=8, zorder=3)
        axes.set_xscale("log")
        axes.set_title(kind, fontsize=10.5, loc="left")
        axes.set_xlabel("ns, with the clock's own")
        axes.grid(True, axis="x", alpha=0.25)
        axes.set_yticks(range(len(shown)), [group[contender][0] for contender in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
    handles = [plt.Line2D([], [], color="#444444", marker=mark, linestyle="", markersize=9 if mark == "|" else 6,
                          markeredgewidth=2 if mark == "|" else 0.6, label=label) for _, mark, label in marks]
    handles.append(plt.Line2D([], [], color="#CC79A7", marker="$F$", linestyle="",
                              label="a compaction (once a frame)"))
    figure.legend(handles=handles, loc="upper right", ncols=len(handles), frameon=False, fontsize=9)
    clock = next(iter(rows.values()))["clock_50"]["median"]
    figure.suptitle(f"Single operations, {threads} thread{'s' if threads > 1 else ''} (the clock: {clock:.0f} ns)", x=0.01,
                    ha="left", fontsize=12)
    figure.tight_layout()
    save(figure, name)


def label_of(contender):
    return (SEQUENTIAL | CONCURRENT)[contender][0]


def colour_of(contender):
    return (SEQUENTIAL | CONCURRENT)[contender][1]


def draw_bars(name, title, panels):
    """Panels of horizontal bars: (heading, xlabel, logarithmic, series), each series (label, hatch, {contender: value})."""
    import matplotlib.pyplot as plt

    # A lock, or another executor, changes nothing of it.
    contenders = [each for each in SEQUENTIAL | CONCURRENT if any(each in panel[3][0][2] for panel in panels)
                  and not re.search("mutex|parallel", each)]
    height = 0.3 * len(contenders) * max(1, 0.8 * max(len(panel[3]) for panel in panels)) + 1.6
    figure, all_axes = plt.subplots(1, len(panels), figsize=(12, height), sharey=True, squeeze=False)
    for axes, (heading, xlabel, logarithmic, series) in zip(all_axes[0], panels):
        thick = 0.8 / len(series)
        for i, (label, light, values) in enumerate(series):
            for y, contender in enumerate(contenders):
                if contender in values:
                    at = y + (i - (len(series) - 1) / 2) * thick
                    axes.barh(at, values[contender], thick * 0.9, color=colour_of(contender), alpha=0.45 if light else 1)
                    text = f" {short(values[contender])}" + (f"  {label}" if y == 0 and len(series) > 1 else "")
                    axes.text(max(values[contender], 0), at, text, va="center", fontsize=8)
        if logarithmic:
            axes.set_xscale("log")
        axes.set_yticks(range(len(contenders)), [label_of(each) for each in contenders])
        axes.set_ylim(len(contenders) - 0.4, -0.6)
        axes.set_title(heading, fontsize=10.5, loc="left")
        axes.set_xlabel(xlabel)
        low, high = axes.get_xlim()
        axes.set_xlim(low, high * 1.6 if logarithmic else high * 1.12)
        axes.grid(True, axis="x", alpha=0.25)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    figure.tight_layout()
    save(figure, name)


def save(figure, name):
    import matplotlib.pyplot as plt

    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def draw_pictures(results):
    import matplotlib

    matplotlib.use("svg")
    # The same file from the same results; text stays text, in a font that is everywhere.
    matplotlib.rcParams.update({"svg.hashsalt": "handlepool", "svg.fonttype": "none", "font.family": "sans-serif",
                                "axes.spines.top": False, "axes.spines.right": False})
    churn = ("churn", "a replaced object: erase, create, its share of the frame's end")
    find = ("find", "a look-up, random order")
    draw_lines(results, "size-sequential", SEQUENTIAL, [churn, find], {"threads": 1}, "objects alive",
               "One thread: wall time, by the number of objects")
    draw_lines(results, "size-concurrent", CONCURRENT, [churn, find], {"threads": 2}, "objects alive",
               "Two threads: wall time divided by what both did, by the number of objects")
    draw_lines(results, "threads", CONCURRENT, [churn, find], {"alive": COMMON}, "threads, on two cores",
               "100,000 objects: wall time divided by what all threads did, by the number of threads")
    draw_tails(results, "latency", CONCURRENT, 2)
    draw_tails(results, "latency-sequential", SEQUENTIAL, 1)

    def of(part, alive, figure, scale=1.0):
        return {row["contender"]: row["figures"][figure]["median"] * scale for row in results.rows(part, alive)}

    draw_bars("memory", "Memory resident in addition to the objects, bytes an object of 64 bytes",
              [(f"{plain(alive)} objects", "bytes an object", False,
                [("after 30 frames", False, of("memory", alive, "settled")),
                 ("loaded at once", True, of("memory", alive, "loaded"))])
               for alive in (COMMON, 10 * COMMON) if results.rows("memory", alive)])
    if results.rows("start"):
        both = {contender: of("start", COMMON, "construct", 1e-6)[contender] + load
                for contender, load in of("start", COMMON, "load", COMMON * 1e-6).items()}
        draw_bars("start", "Start, in memory that was never touched",
                  [("an empty container for 100,000 objects", "µs", True,
                    [("", False, of("start", COMMON, "construct", 1e-3))]),
                   ("the same, and 100,000 objects in it", "ms", False, [("", False, both)])])


# ---------------------------------------------------------------------------------------------------------------------
# Tables

def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cell(results, part, alive, threads, contender, figure, scale=1.0):
    value = results.figure(part, alive, threads, contender, figure)
    return "" if value is None else short(value * scale)


def measured(results, group, part, alive, threads):
    names = {row["contender"] for row in results.rows(part, alive, threads)}
    return [contender for contender in group if contender in names]


def operations(results, group, threads):
    figures = ("churn", "create", "erase", "frame_end", "find", "iterate")
    return table(["ns", "churn", "create", "erase", "frame's end", "find", "iterate"],
                 [[f"`{contender}`"] + [cell(results, "frames", COMMON, threads, contender, figure) for figure in figures]
                  for contender in measured(results, group, "frames", COMMON, threads)])


def sizes(results, group, threads):
    all_sizes = sorted({row["alive"] for row in results.rows("frames", None, threads)})
    return table(["churn / find, ns"] + [plain(size) for size in all_sizes],
                 [[f"`{contender}`"] + [
                     " / ".join(filter(None, (cell(results, "frames", size, threads, contender, figure)
                                              for figure in ("churn", "find")))) for size in all_sizes]
                  for contender in group if results.rows("frames", None, threads)])


def tails(results):
    heads = ["ns: create, erase, find", "50 %", "99 %", "99.9 %", "99.99 %", "worst"]
    rows = []
    for contender in measured(results, CONCURRENT, "latency", COMMON, 2):
        rows.append([f"`{contender}`"] + [
            ", ".join(cell(results, "latency", COMMON, 2, contender, f"{kind}_{quantile}")
                      for kind in ("create", "erase", "find"))
            for quantile in ("50", "99", "99.9", "99.99", "worst")])
    return table(heads, rows)


def pauses(results):
    rows = []
    for contender in ("handlepool::pool", "handlepool::pool, parallel compaction", "handlepool::stable_pool"):
        rows.append([f"`{contender}`"] + [cell(results, "latency", COMMON, 2, contender, f"frame_end_{quantile}", 1e-3)
                                          for quantile in ("50", "worst")])
    return table(["µs", "half of the compactions", "the worst of a round"], rows)


def provenance(results):
    all_ = results.all
    return (f"Measured at commit {all_['commit']} on {all_['date']}: {all_['machine']}; {all_['compiler']}, "
            f"`{all_['flags']}`; {all_['rust']}, `{all_['rust_flags']}`; {all_['rounds']} rounds of at least "
            f"{plain(all_['objects_a_round'])} objects.{all_.get('note', '')}")


def judged_text(results):
    judged = results.all["judged"]
    if judged is None:
        return "The judged row was not measured: a contender of it is missing."
    verdict = "reaches the aim" if judged["ratio"] <= judged["aim"] else "holds" if judged["holds"] else "MISSES"
    return (f"{judged['name']}: {judged['ratio']:.2f} × (half of the rounds {judged['lower']:.2f} to "
            f"{judged['upper']:.2f} ×; must be ≤ {judged['must']} ×, aim ≤ {judged['aim']} ×): {verdict}")


def write_tables(results):
    blocks = {
        "provenance": provenance(results),
        "judged": judged_text(results) + ".",
        "one thread": operations(results, SEQUENTIAL, 1),
        "two threads": operations(results, CONCURRENT, 2),
        "sizes, one thread": sizes(results, SEQUENTIAL, 1),
        "sizes, two threads": sizes(results, CONCURRENT, 2),
        "tails": tails(results),
        "compactions": pauses(results),
    }
    text = PAGE.read_text()
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- begin: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        text, count = pattern.subn(lambda found: f"{found.group(1)}{block}\n{found.group(2)}", text)
        if count != 1:
            fail(f"{PAGE.name} has {count} places for the table '{name}'")
    PAGE.write_text(text)


def main(arguments):
    if arguments[:1] in (["--help"], ["-h"]):
        print(__doc__.strip())
    elif arguments[:1] == ["merge"] and len(arguments) > 2:
        merge(arguments[1], arguments[2:])
    elif arguments[:1] == ["draw"] and len(arguments) == 2:
        results = Results(arguments[1])
        draw_pictures(results)
        write_tables(results)
    elif arguments[:1] == ["judged"] and len(arguments) == 2:
        print(judged_text(Results(arguments[1])))
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
