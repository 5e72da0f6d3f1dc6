#!/usr/bin/env python3
"""All illustrations are drawn, the same each time. scripts/illustrate.py checks their numbers itself."""

import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import sample_data
from sample_data import run


@sample_data.needs_matplotlib
class IllustrationsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.drawn = cls.draw()

    @classmethod
    def draw(cls):
        with tempfile.TemporaryDirectory() as folder:
            done = run("illustrate.py", "--out", folder)
            assert done.returncode == 0, done.stderr
            return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}

    def test_all_are_drawn(self):
        names = ("rooms", "naive_scan", "up_sweep", "down_sweep", "look_back", "split", "onesweep", "utf8_decode")
        self.assertEqual(set(self.drawn), {name + suffix for name in names for suffix in (".svg", ".png")})

    def test_drawn_again_they_are_the_same(self):
        self.assertEqual(self.drawn, self.draw())

    def test_kernels_are_named_as_in_the_code(self):
        code = "".join(path.read_text() for path in (sample_data.ROOT / "stream_compaction").rglob("*.cuh"))
        images = [ElementTree.fromstring(image) for name, image in self.drawn.items() if name.endswith(".svg")]
        texts = {text.text for image in images for text in image.iter("{http://www.w3.org/2000/svg}text")}
        kernels = {text for text in texts if text.startswith("kern")}
        self.assertGreaterEqual(len(kernels), 9)
        for kernel in kernels:
            self.assertIn(f" {kernel}(", code)


if __name__ == "__main__":
    unittest.main()
