#!/usr/bin/env python3
"""Runs ray_compaction and compares its image with reference.png.

  test.py PROGRAM

The program itself checks that both of its ways to render give the same bits.
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    from PIL import Image
except ImportError:
    sys.exit("skipped: Pillow is missing")

REFERENCE = pathlib.Path(__file__).with_name("reference.png")

# The rounding of a sum depends on the compiler and the card. A rounded number may send a path elsewhere, so a few
# pixels may have another color.
TOLERANCE = 3
MOST_DIFFERENT = 0.01

# So many pixels that the graph has a second loop, for few rays.
LARGE = ["--width", "512", "--height", "300", "--samples", "1"]


def channels(file):
    with Image.open(file) as image:
        return image.size, image.convert("RGB").tobytes()


def main():
    size, expected = channels(REFERENCE)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "image.png"
        options = ["--width", str(size[0]), "--height", str(size[1]), "--samples", "8"]
        for arguments in (LARGE, [*options, str(file)]):
            ran = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=False)
            print(ran.stdout, ran.stderr, sep="", end="")
            if ran.returncode != 0 or ran.stdout.startswith("skipped: "):
                return ran.returncode
        rendered_size, rendered = channels(file)
    if rendered_size != size:
        sys.exit(f"the image has {rendered_size} pixels, expected {size}")
    different = sum(abs(a - b) > TOLERANCE for a, b in zip(rendered, expected))
    print(f"{different} of {len(expected)} channels differ from {REFERENCE.name} by more than {TOLERANCE}")
    return 0 if different <= MOST_DIFFERENT * len(expected) else 1


if __name__ == "__main__":
    sys.exit(main())
