"""Turns traces of the simulator (docs/simulator.md) into steps that a reader can follow.

A step is what all threads do in one line of code between two barriers, once per iteration. A warp of a real card runs
its lanes like this, side by side. The simulator runs them one after the other, so the replay checks that the steps give
every load the value that it had in the trace.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field

BARRIERS = ("barrier", "barrier of the grid")


@dataclass
class Region:
    """An array in memory: where the trace finds it, and how its elements are shown."""

    name: str
    array: str  # "global", or the name that the trace gives to shared memory
    offset: int
    bytes: int  # per element
    count: int
    cells: list = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    """A place in the code, and the place from which the kernel calls it."""

    function: str
    file: str
    line: int
    kernel_file: str
    kernel_line: int


@dataclass
class Access:
    region: Region
    index: int
    value: int
    block: int
    thread: int
    kind: str  # "load", "store" or "atomic"


@dataclass
class Step:
    kernel: str
    launch: int
    behind_barrier: bool
    lines: list
    accesses: list
    vain: int = 0  # reads that found nothing new, left out


def read_trace(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def line_of(step):
    file, line = step["file"], step["line"]
    return Line(step["function"], file, line, step.get("kernelFile", file), step.get("kernelLine", line))


def array_of(step):
    return "global" if step["memory"] == "global" else step["array"]


def accesses_of(step, regions):
    """The elements that a step of the trace reads or writes, of those in the regions."""
    found = []
    if "memory" not in step:
        return found
    operation = step["operation"]
    words = step.get("written", step["values"])
    content = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words)
    if operation == "memset":  # the same byte everywhere, of which the trace has the first 16
        content = content[:1] * step["bytes"]
    kind = ("load" if operation in ("load", "atomic load") else
            "store" if "store" in operation or operation in ("memset", "memcpy") else
            "atomic" if "written" in step else "load")
    for region in regions:
        if region.array != array_of(step):
            continue
        ahead = step["offset"] - region.offset
        first, end = -(-ahead // region.bytes), (ahead + step["bytes"]) // region.bytes
        for index in range(max(0, first), min(region.count, end)):
            begin = index * region.bytes - ahead
            value = int.from_bytes(content[begin : begin + region.bytes], "little")
            if operation == "memcpy":
                value = element_at(regions, step["fromOffset"] + begin)
            found.append(Access(region, index, value, step["block"], step["thread"], kind))
    return found


def element_at(regions, offset):
    """A reference to the element of global memory at an offset. The replay looks it up."""
    for region in regions:
        index = (offset - region.offset) // region.bytes
        if region.array == "global" and 0 <= index < region.count:
            return region, index
    raise ValueError(f"nothing is known of offset {offset}")


def merge(ordered, sequence):
    """Inserts the items of a thread's sequence into the common order, each before the next one that is known there."""
    sequence = list(sequence)
    behind = len(ordered)
    for item in reversed(sequence):
        if item not in ordered:
            ordered.insert(behind, item)
        behind = ordered.index(item)


class Phase:
    """What happens between two barriers: the accesses of each thread, each in a visit of a line. The loops of the
    functions in `loops` are one visit."""

    def __init__(self, loops):
        self.loops = loops
        self.sequences = defaultdict(list)  # thread -> [(visit, accesses)]
        self.visits = defaultdict(lambda: defaultdict(int))  # thread -> line -> visits so far
        self.seen = defaultdict(set)  # thread and line -> instructions of the current visit

    def add(self, thread, step, regions):
        """A line that executes one of its instructions again begins another visit."""
        line = line_of(step)
        instruction = step["site"], step["operation"]
        seen = self.seen[thread, line]
        if instruction in seen and line.function not in self.loops:
            seen.clear()
            self.visits[thread][line] += 1
        seen.add(instruction)
        self.sequences[thread].append(((line, self.visits[thread][line]), accesses_of(step, regions)))

    def steps(self):
        """The visits in order, with the accesses of all threads. Lines that the compiler has interleaved are one."""
        together = {}

        def root(visit):
            while together.get(visit, visit) != visit:
                visit = together[visit]
            return visit

        for sequence in self.sequences.values():
            first = {}
            for at, (visit, _) in enumerate(sequence):
                for other, _ in sequence[first.setdefault(visit, at) : at]:
                    if other[0].function == visit[0].function:
                        together[root(other)] = root(visit)
        ordered = []
        accesses = defaultdict(list)
        lines = defaultdict(set)
        for sequence in self.sequences.values():
            merge(ordered, dict.fromkeys(root(visit) for visit, _ in sequence))
            for visit, found in sequence:
                accesses[root(visit)] += found
                lines[root(visit)].add(visit[0])
        for visit in ordered:
            yield sorted(lines[visit], key=lambda line: line.line), accesses[visit]


def steps_of(trace, regions, loops=()):
    """The steps of a run whose threads share work between barriers."""
    phases = {}  # (launch, barriers, barriers of the warp) -> Phase
    passed = defaultdict(lambda: [0, 0])
    kernels = {}
    order = []
    for number, step in enumerate(trace):
        # Work of the stream between two kernels is a phase of its own.
        launch = (step["launch"], number if step["launch"] == 0 else 0)
        thread = step["block"], step["thread"]
        count = passed[launch, thread]
        if step["operation"] in BARRIERS:
            passed[launch, thread] = [count[0] + 1, 0]
        elif step["operation"] == "barrier of the warp":
            count[1] += 1
        elif "memory" in step:
            if launch not in order:
                order.append(launch)
                kernels[launch] = step["kernel"]
            phases.setdefault((launch, *count), Phase(loops)).add(thread, step, regions)
    steps = []
    for launch in order:
        before = 0
        for key in sorted(key for key in phases if key[0] == launch):
            for lines, accesses in phases[key].steps():
                if accesses:
                    steps.append(Step(kernels[launch], launch[0], key[1] > before, lines, accesses))
                    before = key[1]
    return steps


def look_back_steps_of(trace, regions):
    """The steps of a scan by look-back, in the order of the run. Each block loads its tile at once, stores it at once,
    and reads at once the statuses between which nothing is published. Reads that find a status empty again are left
    out and counted. The steps access `input` and `output` by
    tiles."""
    by_name = {region.name: region for region in regions}
    steps = []
    ends = {}  # of the loads and stores of a tile: the number of the last one
    readings = {}  # (block, line) -> the step to which its next read belongs
    last_read = {}  # (block, status) -> what it was
    vain = defaultdict(int)
    found = []
    for number, step in enumerate(trace):
        accesses = accesses_of(step, regions)
        if accesses:
            found.append((number, step, accesses))
            ends[step["block"], accesses[0].region.name] = number

    def add(step, accesses):
        steps.append(Step(step["kernel"], step["launch"], False, [line_of(step)], accesses))
        return steps[-1]

    clearing = None
    for number, step, accesses in found:
        block, region = step["block"], accesses[0].region
        if step["kernel"] == "kernClear":
            clearing = clearing or add(step, [])
            clearing.accesses += accesses
        elif region is by_name["status"]:
            (access,) = accesses
            if access.kind == "store":
                readings.clear()
                add(step, accesses).vain = vain.pop(block, 0)
                continue
            place = block, access.index
            if access.value == 0 and last_read.get(place) == 0:
                vain[block] += 1
                continue
            last_read[place] = access.value
            key = block, step["line"]
            if key not in readings:
                readings[key] = add(step, [])
                readings[key].vain = vain.pop(block, 0)
            readings[key].accesses.append(access)
        elif number == ends[block, region.name]:
            add(step, [Access(region, block, block, block, 0, accesses[0].kind)])
    return steps


def replay(steps, regions):
    """Checks that each load finds the value that it had in the trace, and looks up what is copied."""
    state = {(region.name, i): value for region in regions for i, value in enumerate(region.cells)}
    for step in steps:
        loads = [access for access in step.accesses if access.kind == "load"]
        for access in loads:
            place = access.region.name, access.index
            known = state.setdefault(place, access.value)
            if known != access.value:
                raise ValueError(f"{step.kernel}: {place} is {known}, but {access} was traced, in {step.lines}")
        for access in step.accesses:
            if isinstance(access.value, tuple):
                region, index = access.value
                access.value = state[region.name, index]
        for access in step.accesses:
            if access.kind != "load":
                state[access.region.name, access.index] = access.value
    return state
