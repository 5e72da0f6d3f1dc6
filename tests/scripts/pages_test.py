#!/usr/bin/env python3
"""The links of the pages lead somewhere, and what they name is there."""

import re
import tempfile
import unittest
from pathlib import Path

from sample_data import ROOT


def prose(page):
    """The text of a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """The anchors of the headings, as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page):
    """The relative links and images of a page that lead nowhere."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    return broken


def samples(page):
    """The C++ samples of a page, without the lines that belong at the top of a file."""
    for block in re.findall(r"^ *```cpp$(.*?)^ *```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        lines = [line.strip() for line in block.splitlines()]
        yield "\n".join(line for line in lines if line and not line.startswith(("#include", "using namespace")))


def unknown_names(page, sources):
    """The qualified names in a page that no source declares or calls."""
    names = re.findall(r"`(?:\w+::)+(\w+)`", prose(page))
    declared = r"\b(?:struct|class|enum class|concept|using|namespace|inline|auto|const|constexpr) {0}\b|\b{0}[(,;]"
    return sorted({name for name in names if not re.search(declared.format(name), sources)})


class PagesTest(unittest.TestCase):
    def setUp(self):
        self.pages = sorted((ROOT / "docs").rglob("*.md"))

    def test_links(self):
        pages = [ROOT / "README.md", ROOT / "simulator" / "README.md", *self.pages]
        broken = {page.relative_to(ROOT).as_posix(): links for page in pages if (links := broken_links(page))}
        self.assertEqual(broken, {})

    def test_facts_stand_within_a_line(self):
        """A line that begins with a comment is HTML, in which Markdown is not rendered."""
        for page in self.pages:
            self.assertNotRegex(page.read_text(encoding="utf-8"), r"(?m)^ *<!-- =", page)

    def test_samples_are_compiled(self):
        test = (ROOT / "tests/device/readme_test.cu").read_text(encoding="utf-8")
        compiled = "\n".join(line.strip() for line in test.splitlines())
        for sample in samples(ROOT / "README.md"):
            self.assertIn(sample, compiled)

    def test_names_are_those_of_the_library(self):
        files = [file for file in (ROOT / "stream_compaction").rglob("*") if file.suffix in (".h", ".cuh")]
        sources = "\n".join(file.read_text(encoding="utf-8") for file in files)
        unknown = {page.name: names for page in [ROOT / "README.md", *self.pages]
                   if (names := unknown_names(page, sources))}
        self.assertEqual(unknown, {})

    def test_pictures_name_kernels_as_the_code_does(self):
        code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "stream_compaction").rglob("*.cuh"))
        images = "".join(image.read_text(encoding="utf-8") for image in (ROOT / "img").glob("*.svg"))
        kernels = set(re.findall(r">(kern\w+)</text>", images))
        self.assertGreaterEqual(len(kernels), 9)
        self.assertEqual([kernel for kernel in kernels if f" {kernel}(" not in code], [])

    def test_bytes_of_each_operation_are_told(self):
        source = (ROOT / "src/problems/operations.cpp").read_text(encoding="utf-8")
        operations = re.findall(r'^    \{"([\w-]+)", \{', source, re.MULTILINE)
        self.assertIn("scan", operations)
        table = (ROOT / "docs/measuring.md").read_text(encoding="utf-8").partition("| operation | bytes |")[2]
        told = re.findall(r"`([\w-]+)`", " ".join(re.findall(r"(?m)^\| ([^|]*) \|", table.partition("\n\n")[0])))
        self.assertEqual([name for name in operations if name not in told], [])

    def test_broken_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text("# Title of `it`: one\n[a](#title-of-it-one) [b](#other) [c](page.md) [d](gone.md)\n"
                            "[e](page.md#gone) ![f](gone.svg) [g](https://example.org/gone)\n```\n[h](gone)\n```\n")
            self.assertEqual(broken_links(page), ["#other", "gone.md", "page.md#gone", "gone.svg"])


if __name__ == "__main__":
    unittest.main()
