#!/usr/bin/env python3
"""Plants bugs in the library and tells which of them the tests find, in the simulator.

    scripts/mutants.py [--sample N] [--since REF] [FILE ...]    planted bugs, each with the test that finds it
    scripts/mutants.py --random N [--seed S] [FILE ...]         N bugs drawn at random

With FILE, only bugs in files of the library whose name contains it. It needs a configured build/simulated, and
build/simulated-races for some planted bugs. Random bugs go through build/simulated-races and build/simulated-addresses,
too, if these are configured. Exit status 1 if a planted bug survives.
"""

import argparse
import filecmp
import functools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILDS = {"": "build/simulated", "races": "build/simulated-races", "addresses": "build/simulated-addresses"}

# Files of the library, each with its bugs: the seeded test that finds it (with ! by the race detector), and code with
# @OLD@NEW@ in it.
PLANTED = ROOT / "tests/simulator/planted_bugs.txt"
# How often each kind of random bug is drawn.
WEIGHTS = {"operator": 8, "bound": 6, "barrier": 3, "order": 2, "arguments": 3}
# What the simulator does not compile.
DEAD = r"(?ms:^#(?:if|ifdef) (?:defined\()?(?:!defined\(STREAM_COMPACTION_SIMULATED|__CUDA_ARCH__|__NVCC__).*?^#e\w+)"
# Text that is not changed: comments, strings, preprocessor, declarations, messages of errors.
QUIET = re.compile(DEAD + r"""|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^\\])'|^[ ]*\#(?:\\\n|[^\n])*"""
                   r"""|\btemplate\s*<[^{;(]*"""
                   r"""|\b(?:static_assert|asm volatile|requires|using|namespace|friend|throw|operator)\b[^;{]*""",
                   re.MULTILINE | re.DOTALL)
OPERATORS = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=",
             "!=": "==", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "+=": "-=",
             "-=": "+=", "*=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}
NUMBER = re.compile(r"(?<![\w.'])\d+(?=[uUlL]*(?![\w.']))")
BOUND = re.compile(r"(?<=[ (\[])(?:n|k|count|size|begin|end|first|last|tiles|blocks|threads|elements)(?=[ ;),\]])")
BARRIER = (r"^[ ]*(?:[\w.:]|->)*?(?:__sync\w+|__threadfence|sync|synchronize|meet\w*|\w*[wW]ait\w*|exchange|fence\w*)"
           r"(?:<\w+>)?\([^;{}\n]*\);")
CALL = re.compile(r"\b(?!(?:if|for|while|switch|min|max)\b)\w+>?\(([^(){};<>]+, [^(){};<>]+)\)")


@dataclass(frozen=True)
class Mutant:
    file: str  # relative to ROOT
    kind: str
    begin: int  # the place in the text that is compiled
    end: int
    new: str
    test: str = ""  # that finds a planted bug

    def diff(self):
        text = text_of(self.file)
        first, last = text.rfind("\n", 0, self.begin) + 1, text.find("\n", self.end)
        line = text.count("\n", 0, first) + (not text.startswith("#line"))
        after = text[first:self.begin] + self.new + text[self.end:last]
        rows = [f"{sign} {row.strip()}" for sign, rows in (("-", text[first:last]), ("+", after))
                for row in rows.splitlines() if row.strip()]
        return "\n    ".join([f"{self.file}:{line} ({self.kind})", *rows])


def place_of(file):
    return f"{file}.cpp" if file.endswith(".cu") else file


@functools.cache
def text_of(file):
    """What the compiler sees: the simulator has copies of files with launches."""
    copy = ROOT / BUILDS[""] / "simulated_sources" / place_of(file)
    return (copy if copy.exists() else ROOT / file).read_text()


def planted():
    """The bugs of the list. Blanks and line breaks are the same."""
    def pattern(code):
        return re.sub(r"(?:\\\s)+", r"\\s+", re.escape(code))

    mutants = []
    for line in PLANTED.read_text().splitlines():
        if not line.startswith(" "):
            file = f"stream_compaction/{line}"
            continue
        test, code = line.strip().split(": ", 1)
        before, old, new, after = code.split("@")
        found = list(re.finditer(f"{pattern(before)}({pattern(old)}){pattern(after)}", text_of(file)))
        if len(found) != 1:
            sys.exit(f"{file}: {len(found)} places match {code}")
        mutants.append(Mutant(file, "planted", *found[0].span(1), new, test))
    return mutants


def changes(file):
    """All random bugs that can be drawn for a file."""
    code = QUIET.sub(lambda quiet: re.sub(r"[^\n]", " ", quiet[0]), text_of(file))
    for m in re.finditer(r"(?<= )[-+*/%<>=!&|^]+(?=\s)", code):
        if m[0] in OPERATORS:
            yield Mutant(file, "operator", *m.span(), OPERATORS[m[0]])
    for m in NUMBER.finditer(code):
        others = {int(m[0]) + 1, abs(int(m[0]) - 1)}
        yield from (Mutant(file, "bound", *m.span(), str(other)) for other in sorted(others))
    for m in BOUND.finditer(code):
        yield from (Mutant(file, "bound", *m.span(), f"({m[0]} {step} 1)") for step in "+-")
    for m in re.finditer(BARRIER, code, re.MULTILINE):
        yield Mutant(file, "barrier", *m.span(), "")
    # A barrier and the statement after it change places, unless that only makes a pointer.
    statement = r"[ ]*(?!return|break|continue|[^\n]*\* const \w+ =)\w[^\n{}]*;"
    for m in re.finditer(rf"({BARRIER})[ ]*\n({statement})$", code, re.MULTILINE):
        yield Mutant(file, "order", *m.span(), f"{m[2]}\n{m[1]}")
    for m in CALL.finditer(code):
        arguments = m[1].split(", ")
        if any(re.search(r"[\w>&*\]] \w", argument) for argument in arguments):
            continue  # two words in a row declare a parameter
        for i, (one, other) in enumerate(zip(arguments, arguments[1:])):
            swapped = ", ".join(arguments[:i] + [other, one] + arguments[i + 2:])
            if one != other:
                yield Mutant(file, "arguments", *m.span(1), swapped)


@functools.cache
def includes(file):
    """The files that this one includes, in order."""
    names = re.findall(r'^#include "([^"]+)"', re.sub(DEAD, "", text_of(file)), re.MULTILINE)
    candidates = [(os.path.normpath(Path(file).parent / name), name) for name in names]
    return [path for pair in candidates for path in pair if (ROOT / path).is_file()]


@functools.cache
def closure(file):
    """All files that this one includes, and itself."""
    seen, left = {file}, [file]
    while left:
        new = set(includes(left.pop())) - seen
        seen |= new
        left += new
    return seen


def own_header(source):
    """The header that a source file implements."""
    header = str(Path(source).with_suffix(".h"))
    return header if (ROOT / header).is_file() else next(iter(includes(source)), None)


class DoesNotCompile(Exception):
    pass


def compiled(command, folder):
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    except subprocess.SubprocessError as error:
        raise DoesNotCompile(str(error.stderr)[:2000]) from None


class Build:
    """A configured build: how it compiles, links and runs tests."""

    def __init__(self, name):
        self.name, self.folder = name, ROOT / BUILDS[name]
        database = self.folder / "compile_commands.json"
        if not database.exists():
            sys.exit(f"{BUILDS[name]} is not configured: cmake --preset {self.folder.name}")
        subprocess.run(["ninja", "build.ninja"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)  # the copies
        self.commands, self.objects, self.programs, self.locks, self.unchanged = {}, {}, {}, {}, {}
        for entry in json.loads(database.read_text()):
            command = shlex.split(entry["command"])
            output, path = command[command.index("-o") + 1], Path(entry["file"])
            copies = self.folder / "simulated_sources"
            file = str(path.relative_to(copies if path.is_relative_to(copies) else ROOT)).replace(".cu.cpp", ".cu")
            united = re.findall(r'#include "(.*)"', path.read_text()) if "united" in path.parts else []
            for part in united or [file]:
                command[command.index("-c") + 1] = str(ROOT / part) if united else str(path)
                self.commands.setdefault(part, list(command))
            self.objects[output] = file
            if re.match(r"tests/(?!program/)", file) and re.search(r"^(TYPED_)?TEST", text_of(file), re.MULTILINE):
                self.programs[file] = re.search(r"(\w+)\.dir/", output)[1]
        self.links = {program: self.link(program) for program in set(self.programs.values())}
        self.programs = {file: program for file, program in self.programs.items()
                         if any("gtest_main" in word for word in self.links[program])}

    def link(self, program):
        """The command that links a program."""
        commands = subprocess.run(["ninja", "-t", "commands", f"tests/{program}"], cwd=self.folder, check=True,
                                  capture_output=True, text=True).stdout
        return shlex.split(commands.strip().splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))

    def prepare(self, tests, jobs):
        """Builds all that the programs of these tests are linked with."""
        words = {word for test in tests for word in self.links[self.programs[test]]}
        inputs = sorted(word for word in words if re.search(r"^[^/-].*\.[ao]$", word)
                        and self.objects.get(word) not in self.programs)
        subprocess.run(["ninja", f"-j{jobs}", *inputs], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    @functools.cache
    def reach(self, test):
        """The files of the library that a test exercises: those that it includes, and the sources of their headers."""
        found, left = closure(test), {file for file in self.commands if file.startswith("stream_compaction/")}
        while new := {file for file in left if own_header(file) in found}:
            found, left = found.union(*(self.recompiled(file, test) for file in new)), left - new
        return {file for file in found if file.startswith("stream_compaction/")}

    def recompiled(self, source, test):
        """What a source of the library brings into a test. Its kernels bring tests of kernels nothing new."""
        return {source} if source.endswith(".cu") and test.endswith(".cu") else closure(source)

    def compile(self, source, folder, only=None):
        """The object of a source file. Headers in the folder take the place of the library's."""
        command = list(self.commands[source])
        place = command.index("-c") + 1
        path = Path(command[place])
        if only:  # without its other tests, which would take most of the time
            command[place] = str(folder / "test.cpp")
            (folder / "test.cpp").write_text(re.sub(
                r"^TEST_F\(\w+, (\w+)\) \{\n.*?^\}\n", lambda test: test[0] if test[1] == only else "", text_of(source),
                flags=re.MULTILINE | re.DOTALL))
        elif (mutated := folder / place_of(source)).exists():
            command[place] = str(mutated)
        command[command.index("-o") + 1] = output = str(folder / f"{source.replace('/', '_')}.o")
        command[command.index("-o"):command.index("-o")] = ["-O0", "-g0", "-w"]
        first = next(i for i, word in enumerate(command) if word.startswith(("-D", "-I")))
        command[first:first] = [f"-I{folder}", f"-iquote{path.parent}", "-x", "c++"]
        compiled(command, self.folder)
        return output

    def is_unchanged(self, source, output):
        """Whether an object is the same without the bug."""
        with self.locks.setdefault(source, threading.Lock()):
            if source not in self.unchanged:
                self.unchanged[source] = self.compile(source, self.empty(f"none/{source.replace('/', '_')}"))
        return filecmp.cmp(self.unchanged[source], output, shallow=False)

    def program(self, mutant, test, folder, only=None):
        """A test program with the bug in it; None if the bug changes nothing in it."""
        place = folder / place_of(mutant.file)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = text_of(mutant.file)
        place.write_text(text[:mutant.begin] + mutant.new + text[mutant.end:])
        sources = [test]
        if not only:
            sources += [file for file in self.reach(test) & self.commands.keys()
                        if mutant.file in self.recompiled(file, test)]
        objects = {source: self.compile(source, folder, only) for source in sources}
        if not only and all(self.is_unchanged(source, output) for source, output in objects.items()):
            return None
        return self.linked(test, objects, folder)

    def linked(self, test, objects, folder):
        """A program of one test's objects and of what else its program is linked with."""
        command = [word for word in self.links[self.programs[test]]
                   if (file := self.objects.get(word)) not in objects and file not in self.programs]
        at = command.index("-o")
        command[at + 1] = program = str(folder / Path(test).with_suffix("").name)
        command[at:at] = [*objects.values(), "-Wl,-z,muldefs"]
        compiled(command, self.folder)
        return program

    def empty(self, name):
        """A folder for what is compiled."""
        folder = self.folder / f"mutants/{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def fails_without_bug(self, test, environment, name):
        with self.locks[test]:
            program = self.linked(test, {test: self.unchanged[test]}, Path(self.unchanged[test]).parent)
            return self.run(program, environment, name)

    def runs(self, test):
        """The environments and filters of a test program: those of CTest; of seeded tests few seeds, then more."""
        if test.startswith("tests/simulator/"):
            return [({"STREAM_COMPACTION_FIRST_SEED": first, "STREAM_COMPACTION_SEEDS": seeds}, "*")
                    for first, seeds in (("1", "3"), ("4", "9"))]
        listed = (self.folder / "tests/CTestTestfile.cmake").read_text()
        found = re.findall(rf'/{self.programs[test]}"(.*)\)\n.*STREAM_COMPACTION_SIMULATOR=([^;"]*)', listed)
        return [({"STREAM_COMPACTION_SIMULATOR": settings}, re.search('filter=([^"]*)|$', options)[1] or "*")
                for options, settings in dict.fromkeys(found)] or [({}, "*")]

    def run(self, program, environment, only, seconds=120):
        """How a test program fails; None if it does not."""
        watched = os.environ | {"TSAN_OPTIONS": "halt_on_error=1", "STREAM_COMPACTION_PRINT_SEEDS": "1"} | environment
        begin = time.monotonic()
        try:
            done = subprocess.run([program, f"--gtest_filter={only}", "--gtest_fail_fast"], env=watched,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
            output, status = done.stdout.decode(errors="replace"), done.returncode
        except subprocess.TimeoutExpired as expired:
            # A slow program proves nothing, but a test that takes half of the time does not end.
            output, status = (expired.stdout or b"").decode(errors="replace"), 1
            ended = sum(map(int, re.findall(r"OK \].*\((\d+) ms\)", output))) / 1000
            if time.monotonic() - begin - ended < seconds / 2:
                return None
            output += "for ever"
        if status == 0:
            return None
        kinds = {"data race": "a race", "for ever": "an endless wait", "AddressSanitizer": "a wrong address",
                 "Failure": "a wrong result"}
        how = next((kind for text, kind in kinds.items() if text in output), "a crash")
        seed = re.findall(r"seed=(\d+)", output)
        name = re.findall(r"\[ RUN      \] (\S+)", output)
        return f"{name[-1] if name else program}: {how}" + (f", seed {seed[-1]}" if seed else "")


def try_planted(mutant, builds, number):
    suite, only = re.fullmatch(r"(\w+)\.(\w+)!?", mutant.test).groups()
    build = builds["races" if mutant.test.endswith("!") else ""]
    test = next(test for test in build.programs if f"TEST_F(Seeded{suite}Test, {only})" in text_of(test))
    program = build.program(mutant, test, build.empty(number), only)
    return build.run(program, {"STREAM_COMPACTION_SEEDS": "60"}, f"Seeded{suite}Test.{only}", seconds=300)


def try_random(mutant, builds, number, seconds):
    """How a test fails; "" if the bug changes no program, None if it survives."""
    plain, begin, changes_nothing = builds[""], time.monotonic(), True

    # First those of the file's name, then those that include little. Tests of the host compile all kernels at once.
    words = re.findall("[a-z]+", mutant.file)[2:-1]

    def order(test):
        is_slow = test.startswith("tests/device/") or (test.endswith(".cpp") and ".cu" in mutant.file)
        return not any(word in test for word in words), is_slow, len(closure(test))

    tests = sorted((test for test in plain.programs if mutant.file in plain.reach(test)), key=order)
    last = [test for test in tests if order(test)[:2] == (True, True)]
    sanitizer = builds.get("races" if mutant.kind in ("barrier", "order") else "addresses")
    programs = [(plain, test) for test in tests if test not in last]
    programs += [(sanitizer, test) for test in tests if sanitizer and test in sanitizer.programs
                 and test.startswith("tests/simulator/")] + [(plain, test) for test in last]
    for i, (build, test) in enumerate(programs):
        if time.monotonic() - begin > seconds:
            print(f"{mutant.file}: {len(programs) - i} of {len(programs)} test programs are not tried", flush=True)
            return None
        if (program := build.program(mutant, test, build.empty(number))) is None:
            continue
        changes_nothing = False
        for environment, only in build.runs(test):
            if time.monotonic() - begin < seconds and (how := build.run(program, environment, only)):
                if not build.fails_without_bug(test, environment, how.split(": ")[0]):
                    return how
                print(f"{test} ({build.folder.name}) fails without a bug: {how}", flush=True)
    return "" if changes_nothing else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="part of the name of a file of the library")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one planted bug of N, chosen by the commit")
    parser.add_argument("--since", metavar="REF", help="and all planted bugs in files changed since")
    parser.add_argument("--random", type=int, metavar="N", help="draw bugs at random instead")
    parser.add_argument("--seed", default="1", help="from which random bugs are drawn (%(default)s)")
    parser.add_argument("--limit", type=int, default=240, metavar="SECONDS", help="for a random bug (%(default)s)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="how many at a time (all cores)")
    options = parser.parse_args()

    def is_wanted(file):
        return not options.files or any(part in file for part in options.files)

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    builds = {"": Build("")}
    if options.random:
        builds |= {name: Build(name) for name, folder in BUILDS.items() if name and (ROOT / folder).exists()}
        reached = set().union(*map(builds[""].reach, builds[""].programs))
        drawn = {kind: [] for kind in WEIGHTS}
        for file in filter(is_wanted, sorted(reached)):
            for mutant in changes(file):
                drawn[mutant.kind].append(mutant)
        weights = [WEIGHTS[kind] * bool(mutants) for kind, mutants in drawn.items()]
        work = range(options.random)
    else:
        touched = git("diff", "--name-only", options.since).split() if options.since else []
        part = int(git("rev-list", "--count", "HEAD")) % options.sample if options.sample > 1 else 0
        work = [mutant for i, mutant in enumerate(planted())
                if is_wanted(mutant.file) and (i % options.sample == part or mutant.file in touched)]
        if any(mutant.test.endswith("!") for mutant in work):
            builds["races"] = Build("races")
    for build in builds.values():
        tests = [test for test in build.programs if options.random or test.startswith("tests/simulator/")]
        build.prepare(tests, options.jobs)

    def attempt(number):
        begin, refused = time.monotonic(), 0
        random_of = random.Random(f"{options.seed} {number}")
        while True:
            mutant = work[number]
            if options.random:
                mutant = random_of.choice(drawn[random_of.choices(list(drawn), weights)[0]])
            try:
                found = (try_random(mutant, builds, number, options.limit) if options.random else
                         try_planted(mutant, builds, number))
                break
            except DoesNotCompile as error:
                if not options.random:
                    sys.exit(f"{mutant.diff()}\ndoes not compile:\n{error}")
                refused += 1
        print(f"{mutant.diff()}\n    {'SURVIVES' if found is None else found or 'changes no program'}, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        return mutant, found, refused

    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(attempt, range(len(work))))
    survivors, idle = ([mutant for mutant, found, _ in results if found == which] for which in (None, ""))
    for mutants, title in (idle, "These change no program:"), (survivors, "THESE SURVIVE:"):
        if mutants:
            print("\n".join(["", title, *(mutant.diff() for mutant in mutants)]))
    print(f"\n{len(results)} bugs: {len(results) - len(survivors) - len(idle)} found, {len(survivors)} survive, "
          f"{len(idle)} change no program; {sum(refused for *_, refused in results)} more did not compile; "
          f"{time.monotonic() - begin:.0f} s")
    sys.exit(1 if survivors and not options.random else 0)


if __name__ == "__main__":
    main()
