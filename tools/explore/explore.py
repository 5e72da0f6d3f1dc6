#!/usr/bin/env python3
"""Makes the data of docs/explore.html: algorithms step by step, as the kernels have run in the simulator.

    tools/explore/explore.py            runs the kernels and writes the data into the page
    tools/explore/explore.py --check    writes nothing; exit status 1 if the page is out of date, 77 if another compiler
                                        has built the kernels than those of the page

The kernels are run by the program explore_run (tools/explore) of the preset `simulated`. Its traces become steps
(traces.py), and the code of the page shows them. Captions are the comments of the code and a few hints. Each result
is compared with one computed here.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Callable

from traces import Region, look_back_steps_of, read_trace, replay, steps_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explore.html"
DATA = re.compile(r'(?<=<script type="application/json" id="data">).*?(?=</script>)', re.DOTALL)
PROGRAM = ROOT / "build" / "simulated" / "bin" / "explore_run"
ANOTHER_COMPILER = 77  # exit status: nothing was checked
WARP = 32
BANKS = 32
LINES_AROUND = 7  # of a line of code


@dataclass
class Input:
    name: str
    numbers: list
    settings: str = ""  # of the simulator
    note: str = ""


@dataclass
class View:
    """How the page shows a region."""

    format: str = "int"
    layout: str = "row"
    note: str = ""


@dataclass
class Algorithm:
    id: str
    title: str
    about: str
    inputs: list
    views: dict  # name of a region -> View, in the order of the page
    expected: Callable
    settings: str = ""
    loops: tuple = ()  # functions whose loops are one step
    tile: int = 0  # elements per tile, if the page shows tiles only
    unit: str = "thread"
    fit: Callable = field(default=lambda run, regions, steps: None)  # leaves out what the page does not show


def wrapped(number):
    return (number + 2**31) % 2**32 - 2**31


def sums(numbers):
    """The exclusive scan."""
    return [wrapped(sum) for sum in itertools.accumulate(numbers[:-1], initial=0)] if numbers else []


def code_points(text):
    return [ord(character) for character in bytes(text).decode("utf-8", errors="replace")]


def random_numbers(n, least, most, seed=1):
    draw = random.Random(seed)
    return [draw.randint(least, most) for _ in range(n)]


LAST = 2**31 - 1
SCANS = [
    Input("random", random_numbers(16, 0, 9)),
    Input("ones", [1] * 16, note="The scan of ones counts: each element is its own index."),
    Input("1 to 16", list(range(1, 17))),
    Input("negative", random_numbers(16, -9, 9, seed=2)),
    Input("one nonzero", [0] * 5 + [7] + [0] * 10, note="Watch how far the 7 has come after each step."),
    Input("13, no power of two", random_numbers(13, 0, 9, seed=3)),
    Input("40, two blocks", random_numbers(40, 0, 9, seed=4), note="A block has 32 threads here, so there are two."),
    Input("alternating", [1, -1] * 8),
    Input("overflow", [LAST, 1, LAST, 1, 5, LAST, -LAST, 2], note="Sums of integers wrap around."),
    Input("two elements", [4, 9]),
]

TILE = 512
TILES_OF_SHARED = [
    Input("random", random_numbers(TILE, 0, 9)),
    Input("ones", [1] * TILE),
    Input("1 to 512", list(range(1, TILE + 1))),
    Input("negative", random_numbers(TILE, -9, 9, seed=2)),
    Input("one nonzero", [0] * 100 + [7] + [0] * (TILE - 101)),
    Input("300, no power of two", random_numbers(300, 0, 9, seed=3),
          note="Places behind the end of the array hold zeros."),
    Input("33", random_numbers(33, 0, 9, seed=4)),
    Input("alternating", [1, -1] * (TILE // 2)),
    Input("overflow", [LAST, 1] * (TILE // 2), note="Sums of integers wrap around."),
]

LOOK_BACK_TILE = 128
TILES = 8


def tiles(values):
    """An array with these values, one per tile."""
    return [value for value in values for _ in range(LOOK_BACK_TILE)]


LOOK_BACKS = [
    Input("in order", tiles([1] * TILES),
          note="Each tile finishes before the next begins, so the tile before it has always published a prefix."),
    Input("worst order", tiles([1] * TILES), "order=reverse",
          "The last tile begins first. All others have to wait for the first, and have published aggregates by then."),
    Input("any order", tiles([1] * TILES), "order=any,seed=3", "Blocks begin and go on in an order drawn from a seed."),
    Input("another order", tiles([1] * TILES), "order=any,seed=11", "The same with another seed."),
    Input("late writes", tiles([1] * TILES), "seed=2",
          "Here what a block stores becomes visible to other blocks late, as a card may do it."),
    Input("random", random_numbers(TILES * LOOK_BACK_TILE, 0, 9), "order=reverse"),
    Input("negative", random_numbers(TILES * LOOK_BACK_TILE, -9, 9, seed=2), "order=any,seed=5"),
    Input("1000, no power of two", [1] * 1000, "order=reverse", "The last tile has 104 elements."),
    Input("40 tiles", tiles([1] * 40), "order=reverse",
          "A warp reads 32 statuses at a time. The last tiles need a second window if the first has no prefix."),
    Input("one tile", [1] * 100, note="No tile is before it, so its aggregate is also its prefix."),
]

BYTES = [0x03, 0x1D, 0x2A, 0x40, 0x55, 0x7E, 0x91, 0xC8]


def keys(n, lows, highs, seed):
    draw = random.Random(seed)
    return [draw.choice(lows) + 256 * draw.choice(highs) for _ in range(n)]


SORTS = [
    Input("random", keys(64, BYTES, range(4), 1), note="Keys of 16 bits take two passes, one per byte."),
    Input("below 256", keys(64, BYTES, [0], 2), note="All keys share their upper byte, so there is no second pass."),
    Input("negative", keys(64, BYTES[:5], range(-3, 3), 3),
          note="Keys are kept with their sign bit flipped: then negative keys precede the others as bits, too."),
    Input("sorted", sorted(keys(64, BYTES, range(4), 4))),
    Input("reversed", sorted(keys(64, BYTES, range(4), 5), reverse=True)),
    Input("all equal", [42] * 64, note="No digit differs, so there is no pass at all."),
    Input("same lower byte", keys(64, [0x2A], range(8), 6), note="Only the pass for the upper byte is needed."),
    Input("two values", keys(64, [3, 0x1D], [0], 7), note="Equal keys keep their order: the sort is stable."),
    Input("50, no power of two", keys(50, BYTES[:6], range(3), 8),
          note="Places behind the end hold the greatest key, ffff. They rank last and are not written."),
    Input("one key", [7]),
]

TEXTS = [
    Input(name, list(text if isinstance(text, bytes) else text.encode()), note=note)
    for name, text, note in (
        ("mixed", "Zoë 是 😀, ß & 好!", "Characters of one, two, three and four bytes."),
        ("ASCII", "Prefix sums count.", "Every byte is a character."),
        ("German", "Übergrößenträger", "Mostly ASCII, some characters of two bytes."),
        ("Greek", "αβγδεζηθικ", "Every character has two bytes. A full tile of such text would take a shorter path."),
        ("Chinese", "并行前缀和很快", "Every character has three bytes."),
        ("emoji", "😀😃😄😁😆", "Every character has four bytes."),
        ("ill-formed", b"ab\xff\xc3(\xe2\x82z", "Each ill-formed unit becomes one U+FFFD."),
        ("cut off", "Ende: €".encode()[:-1], "The last character lacks its last byte."),
        ("overlong", b"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "Longer forms than needed are ill-formed."),
        ("surrogates", b"\xed\xa0\x80 \xed\xbf\xbf \xf4\x90\x80\x80", "Surrogates and code points above U+10FFFF."),
    )
]

SHARED_VIEWS = {
    "sums": View(layout="banks", note="one per thread; shared memory, a column per bank"),
    "tile": View(layout="banks", note="shared memory, a column per bank"),
    "output": View(layout="dense", note="global memory"),
    "input": View(layout="dense", note="global memory"),
}
TREE_VIEWS = {"input": View(), "tree": View(), "output": View()}


def fit_radix(run, regions, steps):
    """Shows the warps that have keys, the digits that occur, and the places of the keys."""
    n = len(run.numbers)
    counts = next(region for region in regions if region.name == "counts")
    packed = next(region for region in regions if region.name == "packed keys")
    warps = -(-n // WARP)
    digits = sorted({a.index % 256 for s in steps for a in s.accesses
                     if a.region is counts and a.kind == "atomic" and a.index < 256 * warps})
    for step in steps:
        step.accesses = [a for a in step.accesses
                         if not (a.region is packed and a.index >= n)
                         and not (a.region is counts and (a.index >= 256 * warps or a.index % 256 not in digits))]
        for access in step.accesses:
            if access.region is counts:
                access.index = access.index // 256 * len(digits) + digits.index(access.index % 256)
    counts.count, packed.count = warps * len(digits), n
    return {"counts": {"columns": [f"{digit:02x}" for digit in digits], "rows": [f"warp {w}" for w in range(warps)]}}


ALGORITHMS = [
    Algorithm(
        "naive", "Naive",
        "Hillis and Steele: in each launch every element adds the sum that ends a distance before its own, and the "
        "distance doubles. Two buffers take turns, because a thread must not overwrite what another still has to read.",
        SCANS, {"input": View(), "buffer 1": View(), "buffer 2": View(), "output": View()}, sums),
    Algorithm(
        "blelloch", "Blelloch",
        "The work-efficient scan: a tree over the array. The upsweep adds up the leaves of each node; the downsweep "
        "gives each node the sum of everything before it.",
        SCANS, TREE_VIEWS, sums),
    Algorithm(
        "blelloch-remapped", "Blelloch, remapped",
        "The same tree, but thread k works on node k. So each launch has only the threads that have work. The lowest "
        "levels also read the input and write the result.",
        SCANS, TREE_VIEWS, sums),
    Algorithm(
        "shared-conflicts", "Shared, conflicts",
        "Blelloch's scan in the shared memory of a block of 64 threads. A warp that wants different words of one bank "
        "is served in several turns. Strides of powers of two put many threads into few banks.",
        TILES_OF_SHARED, SHARED_VIEWS, sums),
    Algorithm(
        "shared", "Shared, padded",
        "The same kernel with an unused word behind every 32. The same strides now lead to different banks.",
        TILES_OF_SHARED, SHARED_VIEWS, sums),
    Algorithm(
        "look-back", "Look-back",
        "The scan in a single pass. A tile publishes its own sum, the aggregate (A). Then it looks back: it adds up "
        "the aggregates of the tiles before it until it meets a prefix (P), the sum of everything up to a tile's end. "
        f"Tiles have {LOOK_BACK_TILE} elements here, 32 threads with four each.",
        LOOK_BACKS,
        {"input": View("text", "cards"), "status": View("status", "cards"), "output": View("text", "cards")},
        sums, settings="capability=7.5", tile=LOOK_BACK_TILE, unit="tile"),
    Algorithm(
        "radix", "Radix pass",
        "A block sorts its keys by a digit of eight bits per pass. Each warp counts its digits, the block turns counts "
        "into places, and every key moves to its place. Between passes keys are in registers, which a trace does not "
        "show.",
        SORTS, {"input": View(), "counts": View("int", "table", "keys per digit, then the rank of the next key"),
                "packed keys": View("key", note="shared memory"), "output": View()},
        sorted, loops=("DigitRank", "total", "begin"), fit=fit_radix),
    Algorithm(
        "utf8-textbook", "UTF-8, textbook",
        "Decoding is a compaction: map each byte to whether a character begins there, scan these flags, and scatter "
        "the code points.",
        TEXTS, {"text": View("byte"), "emits": View(), "buffer 1": View(), "buffer 2": View(), "indices": View(),
                "output": View("code")},
        code_points, loops=("windowAround",)),
    Algorithm(
        "utf8", "UTF-8 tile",
        "A tile in shared memory. Each thread finds in 32 bytes at a time where characters begin. The output is cut "
        "into runs of four code points; the block lists where each run begins, and a thread converts it. Most of the "
        "work is in registers, which a trace does not show.",
        TEXTS, {"text": View("byte"), "tile": View("byte", note="shared memory"),
                "units": View("bit", note="1 where a character begins"),
                "runs": View(note="where each run of four begins"), "output": View("code")},
        code_points, settings="capability=7.5", loops=("windowAt",)),
]


# What happens in a function, or in its lines with a text, where the comments of the code do not say it.
HINTS = {
    "addLeftToRight": "Each node adds its left child to its right child, whose place is also its own.",
    "passDown": "The left child gets the value of its parent. The right child gets that value plus what the left child "
                "held.",
    "memcpy": "The leaves of the tree are the result.",
    "scanThreadSums: at(thread) = sum": "Each thread puts the sum of its elements into the tree.",
    "scanThreadSums: total = ": "The root of the tree has the total of the block.",
    "scanThreadSums: = T{}": "One thread clears the root: before the whole tile there is nothing.",
    "scanThreadSums: return at(thread)": "Each thread reads the sum of everything before its elements.",
    "kernClear": "An earlier kernel clears the statuses.",
    "kernScanLookBack: loader.finish": "The block loads its tile.",
    "publish": "A status is one word, with its state in the lowest two bits and the sum above them.",
    "lookBack": "Each lane reads the status of one tile.",
    "storeVector": "Each lane stores the sums of its elements.",
    "DigitRank": "Each warp clears its counts.",
    "count": "Each lane adds one to the count of its key's digit.",
    "total": "One thread per digit adds up the counts of all warps.",
    "begin": "Counts become ranks: an entry is now the place of the warp's first key with that digit.",
    "next: const": "Lanes with equal digits find each other by ballots. The entry says where the first of them goes.",
    "next: (rank + 1)": "The last lane of each digit moves the entry behind the warp's keys with that digit.",
    "pack": "Each key goes to its place.",
    "loadRows": "Each thread loads its key into a register.",
    "sortInBlock: differing = ": "All threads read the first key, to find the digits in which keys differ.",
    "sortInBlock: out.keys": "The keys are in order and go to the output.",
    "finish": "The threads load the tile into shared memory. From compute capability 9.0 on, the copy engine does it.",
    "kernDecode: uniform": "A full tile whose characters all have one length takes a shorter path. This tile is not "
                           "full.",
    "at": "Threads read words of the tile.",
    "findUnitsOfThread": "A thread has found where units begin in its 32 bytes, by bit planes in registers.",
    "listFirstRun": "The first run begins with the first character.",
    "putHighestBit": "A new run begins with every fourth code point. Here is where it begins in the text.",
    "convertRuns: *begins": "Each thread takes a run of four code points.",
    "convertRuns: __stcg": "A thread stores its four code points at once.",
    "convertSome": "The last run has fewer code points.",
    "loadWord": "Code points are gathered from the bytes of the run.",
}


class Source:
    """Lines of code, and the comments that explain them."""

    def __init__(self):
        self.files = {}
        self.shown = {}
        self.unused_hints = set(HINTS)

    def lines(self, file):
        if file not in self.files:
            self.files[file] = (ROOT / file).read_text(encoding="utf-8").splitlines()
        return self.files[file]

    def show(self, step):
        """Puts the lines around those of a step on the page."""
        for place in step.lines:
            for file, line in ((place.file, place.line), (place.kernel_file, place.kernel_line)):
                lines = self.lines(file)
                for number in range(max(1, line - LINES_AROUND), min(len(lines), line + LINES_AROUND) + 1):
                    self.shown.setdefault(file, {})[number] = lines[number - 1]

    def hint(self, function, file, line):
        text = self.lines(file)[line - 1]
        for key, hint in HINTS.items():
            of, _, part = key.partition(": ")
            if of == function and part in text:
                self.unused_hints.discard(key)
                return hint
        return None

    def captions(self, kernel, kernel_file, kernel_line, function, file, line):
        """What the kernel does, and what the function does that it has called. The kernel's own comment need not be
        repeated where there is a hint."""
        of_function = self.hint(function, file, line)
        of_kernel = self.hint(kernel, kernel_file, kernel_line)
        comment, is_of_kernel = self.comment(kernel_file, kernel_line)
        if not of_kernel and not (of_function and is_of_kernel):
            of_kernel = comment
        return list(dict.fromkeys(filter(None, [of_kernel, of_function or self.comment(file, line)[0]])))

    def comment(self, file, line):
        """The nearest comment above a line of a function: within the function, else the first sentence of its own. And
        whether it is its own."""
        lines = self.lines(file)
        at = line - 1
        while at >= 0 and not lines[at].lstrip().startswith("//"):
            at -= 1
        marker = "///" if lines[at].lstrip().startswith("///") else "//"
        comment = []
        while at >= 0 and lines[at].lstrip().startswith(marker):
            comment.insert(0, lines[at].strip().removeprefix(marker).strip())
            at -= 1
        text = " ".join(comment)
        if marker == "///":
            text = re.match(r".*?\.(?=\s|$)|.*", text)[0]
        return text.rstrip(":;"), marker == "///"


def run(program, algorithm, given):
    """Runs the kernels. Returns what the program printed, and the trace."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.jsonl"
        settings = ",".join(filter(None, [f"trace={file}", algorithm.settings, given.settings]))
        done = subprocess.run([program, algorithm.id], input=" ".join(map(str, given.numbers)), text=True, check=False,
                              capture_output=True, env=os.environ | {"STREAM_COMPACTION_SIMULATOR": settings})
        if done.returncode != 0:
            sys.exit(f"explore.py: {algorithm.id}, {given.name}: {done.stderr}")
        return json.loads(done.stdout), read_trace(file)


def in_short(numbers):
    """The first numbers and the last."""
    return " ".join(map(str, numbers)) if len(numbers) <= 4 else f"{numbers[0]} {numbers[1]} … {numbers[-1]}"


def by_tiles(algorithm, given, regions, result):
    """Gives regions an element per tile. Those of input and output are indices of the texts that are returned."""
    count = -(-len(given.numbers) // algorithm.tile)
    texts = []
    for region in regions:
        if region.name in ("input", "output"):
            numbers = given.numbers if region.name == "input" else result
            texts.append([in_short(numbers[i * algorithm.tile : (i + 1) * algorithm.tile]) for i in range(count)])
        region.count = count
    return texts


def column(numbers):
    """The numbers, or the first and the difference where they are an arithmetic progression."""
    if len(numbers) > 2:
        difference = numbers[1] - numbers[0]
        if all(b - a == difference for a, b in itertools.pairwise(numbers)):
            return [numbers[0], difference]
    return numbers


def grouped(accesses, regions):
    """Accesses as [region, kind, number, threads, indices, values], one group per region and kind."""
    kinds = ["load", "store", "atomic"]
    groups = {}
    for access in accesses:
        groups.setdefault((kinds.index(access.kind), regions.index(access.region)), []).append(access)
    for (kind, region), found in sorted(groups.items()):
        found.sort(key=lambda a: (a.block, a.thread, a.index) if kind < 2 else ())
        yield [region, kind, len(found), column([a.block * WARP + a.thread for a in found]),
               column([a.index for a in found]), column([a.value for a in found])]


def signed(value, size):
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def named(regions, *names):
    return next(region for region in regions if region.name in names)


def checked_steps(algorithm, given, result, trace, regions):
    """The steps between barriers. They must give the result."""
    source = named(regions, "input", "text")
    source.cells = [number % (1 << 8 * source.bytes) for number in given.numbers]
    steps = steps_of(trace, regions, algorithm.loops)
    state = replay(steps, regions)
    output = named(regions, "output")
    written = [state.get((output.name, i)) for i in range(len(result))]
    if written != [number % (1 << 8 * output.bytes) for number in result]:
        sys.exit(f"explore.py: {algorithm.id}, {given.name}: the steps do not give the result")
    return steps


def bits_of(region, accesses, count):
    """Turns the words of a region into bits."""
    for access in accesses:
        if access.region is not region:
            yield access
            continue
        for bit in range(32):
            index = 32 * access.index + bit
            if index < count:
                yield replace(access, index=index, value=access.value >> bit & 1)


def format_values(view, region, steps, n):
    """Gives the accesses to a region the values that the page shows."""
    if view.format == "bit":
        region.count = n
        for step in steps:
            step.accesses = list(bits_of(region, step.accesses, n))
    elif view.format == "int":
        for access in itertools.chain.from_iterable(step.accesses for step in steps):
            if access.region is region:
                access.value = signed(access.value, region.bytes)


def described(view, region):
    return {"name": region.name, "format": view.format, "layout": view.layout, "note": view.note, "count": region.count,
            "bank": region.offset // 4 % BANKS if view.layout == "banks" else 0}


def encoded(step, regions):
    first = step.lines[0]
    return [step.kernel, step.launch, int(step.behind_barrier), first.function, first.file,
            [line.line for line in step.lines], first.kernel_file, first.kernel_line, step.vain,
            list(grouped(step.accesses, regions))]


def record(program, algorithm, given, source):
    """A run as the page shows it."""
    printed, trace = run(program, algorithm, given)
    result = printed["result"]
    if result != algorithm.expected(given.numbers):
        sys.exit(f"explore.py: {algorithm.id}, {given.name}: wrong result {result}")
    regions = [Region(**region) for region in printed["regions"] if region["name"] in algorithm.views]
    regions.sort(key=lambda region: list(algorithm.views).index(region.name))
    texts, titles = [], {}
    if algorithm.tile:
        steps = look_back_steps_of(trace, regions)
        texts = by_tiles(algorithm, given, regions, result)
    else:
        steps = checked_steps(algorithm, given, result, trace, regions)
        titles = algorithm.fit(given, regions, steps) or {}
    steps = [step for step in steps if step.accesses]
    arrays = []
    for region in regions:
        view = algorithm.views[region.name]
        format_values(view, region, steps, len(given.numbers))
        arrays.append(described(view, region) | titles.get(region.name, {}))
    source_region = named(regions, "input", "text")
    cells = list(range(source_region.count)) if algorithm.tile else given.numbers
    arrays[regions.index(source_region)]["cells"] = cells
    for step in steps:
        source.show(step)
    return {"compiler": printed["compiler"], "name": given.name, "note": given.note, "settings": given.settings,
            "n": len(given.numbers), "arrays": arrays, "texts": texts,
            "steps": [encoded(step, regions) for step in steps]}


def shared_strings(data):
    """Replaces each place in the code by an index, because many steps share it."""
    places = {}
    for algorithm in data["algorithms"]:
        for recorded in algorithm["runs"]:
            for step in recorded["steps"]:
                place = json.dumps([step[0], *step[3:8]])
                step[:] = [places.setdefault(place, len(places)), step[1], step[2], *step[8:]]
    data["places"] = [json.loads(place) for place in places]


def recorded_data(program):
    source = Source()
    jobs = [(algorithm, given) for algorithm in ALGORITHMS for given in algorithm.inputs]
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda job: record(program, *job, source), jobs))
    (compiler,) = {recorded.pop("compiler") for recorded in runs}
    recorded = iter(runs)
    data = {"compiler": compiler,
            "algorithms": [{"id": algorithm.id, "title": algorithm.title, "about": algorithm.about,
                            "unit": algorithm.unit, "runs": [next(recorded) for _ in algorithm.inputs]}
                           for algorithm in ALGORITHMS]}
    shared_strings(data)
    for place in data["places"]:
        kernel, function, file, lines, kernel_file, kernel_line = place
        place.append(source.captions(kernel, kernel_file, kernel_line, function, file, lines[-1]))
    if source.unused_hints:
        sys.exit(f"explore.py: no step is of the hints {sorted(source.unused_hints)}")
    data["source"] = {file: dict(sorted(lines.items())) for file, lines in sorted(source.shown.items())}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def compiler_of(text):
    """The compiler of the kernels of a page or of its data."""
    found = re.search(r'"compiler":"([^"]*)"', text)
    return found and found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="explore_run of the preset simulated")
    parser.add_argument("--check", action="store_true", help="only tell whether the page is up to date")
    arguments = parser.parse_args()
    if not arguments.program.exists():
        sys.exit(f"explore.py: {arguments.program} was not found: build the target explore_run of the preset simulated")
    data, page = recorded_data(arguments.program), PAGE.read_text(encoding="utf-8")
    if not arguments.check:
        PAGE.write_text(DATA.sub(lambda _: data, page), encoding="utf-8")
        return
    if compiler_of(page) != compiler_of(data):
        print(f"explore.py: not checked: the page is of {compiler_of(page)}, this build of {compiler_of(data)}")
        sys.exit(ANOTHER_COMPILER)
    if DATA.search(page)[0] != data:
        sys.exit("explore.py: docs/explore.html is out of date: run tools/explore/explore.py")


if __name__ == "__main__":
    main()
