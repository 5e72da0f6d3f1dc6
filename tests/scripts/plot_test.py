#!/usr/bin/env python3
"""The charts of a small data folder, and the messages about missing or broken files."""

import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import sample_data
from charts import build_charts, own_charts
from sample_data import COPY_SPEED, SCANS, run, time_of

SVG = "{http://www.w3.org/2000/svg}"


class ChartsTest(unittest.TestCase):
    """The chart as data, without drawing it."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        sample_data.write_all(self.folder)

    def series(self, name, panel=0):
        charts, _ = build_charts(self.folder)
        return {line["label"]: line["points"] for line in charts[name]["panels"][panel]["series"]}

    def test_points_are_the_measurements(self):
        series = self.series("scan_time")
        self.assertEqual(list(series), list(SCANS))
        for variant, points in series.items():
            self.assertEqual([point["x"] for point in points], sorted(point["x"] for point in points))
            self.assertEqual(len(points), 42)
            for point in points:
                self.assertAlmostEqual(point["y"], time_of(variant, point["x"]), places=3)
                self.assertEqual(point["odd"], point["x"] % 2 == 1)

    def test_the_newest_measurement_counts(self):
        rows = sample_data.scans()
        sample_data.write_csv(self.folder / "sweep.csv", [*rows, sample_data.row("scan", "cub", 1 << 20, 7)])
        times = {point["x"]: point["y"] for point in self.series("scan_time")["cub"]}
        self.assertEqual(times[1 << 20], 7)
        self.assertEqual(len(times), 42)

    def test_with_cold_caches_alone(self):
        warm = sample_data.row("scan", "cub", 1 << 20, 7, mode="batched")
        sample_data.write_csv(self.folder / "sweep.csv", [*sample_data.scans(), warm])
        self.assertNotIn(7, [point["y"] for point in self.series("scan_time")["cub"]])

    def test_what_was_wrong_is_not_shown(self):
        wrong = sample_data.row("scan", "shared", 1 << 20, 7, verified="false", median_us="")
        sample_data.write_csv(self.folder / "sweep.csv", [*sample_data.scans(), wrong])
        self.assertNotIn("shared", self.series("scan_time"))

    def test_the_ceiling_is_the_copy(self):
        points = self.series("scan_bandwidth")["copy"]
        self.assertEqual([point["x"] for point in points], [1 << k for k in range(8, 29)])
        for point in points[-10:]:
            self.assertAlmostEqual(point["y"], COPY_SPEED, delta=0.001 * COPY_SPEED)

    def test_bandwidth_is_on_a_logarithmic_axis(self):
        charts, _ = build_charts(self.folder)
        self.assertEqual(charts["scan_bandwidth"]["panels"][0]["y"]["scale"], "log")

    def test_the_spread_is_that_of_the_trials(self):
        for name, least, greatest in (("scan_time", 0.9, 1.25), ("scan_bandwidth", 1 / 1.25, 1 / 0.9),
                                      ("ladder", 1 / 1.25, 1 / 0.9)):
            point = self.series(name)["cub"][-1]
            self.assertAlmostEqual(point["spread"][0] / point["y"], least, places=3)
            self.assertAlmostEqual(point["spread"][1] / point["y"], greatest, places=3)

    def test_files_without_the_fastest_and_slowest_trial_have_no_spread(self):
        columns = [column for column in sample_data.COLUMNS if column not in ("min_us", "max_us")]
        sample_data.write_csv(self.folder / "sweep.csv", sample_data.scans(), columns)
        self.assertNotIn("spread", self.series("scan_time")["cub"][-1])

    def test_the_crossover_lies_where_the_times_are_equal(self):
        charts, _ = build_charts(self.folder)
        (crossing,) = charts["crossover"]["panels"][0]["level"]["crossings"]
        equal = 5 / (SCANS["cpu"] - SCANS["single-pass"])
        self.assertAlmostEqual(crossing["x"], equal, delta=0.05 * equal)

    def test_without_a_card_there_is_no_crossover(self):
        cpu = [row for row in sample_data.scans() if row["variant"] == "cpu"]
        sample_data.write_csv(self.folder / "sweep.csv", cpu)
        charts, missing = build_charts(self.folder)
        self.assertIn("scan_time", charts)
        self.assertIn("crossover", missing)

    def test_missing_columns_are_named(self):
        columns = [column for column in sample_data.COLUMNS if column not in ("gbps", "n")]
        sample_data.write_csv(self.folder / "sweep.csv", sample_data.scans(), columns)
        self.assert_no_page(self.folder, "sweep.csv lacks the columns n, gbps")

    def test_without_measurements_there_is_no_page(self):
        nowhere = self.folder / "nowhere"
        self.assert_no_page(nowhere, f"there is no folder {nowhere}")
        nowhere.mkdir()
        self.assert_no_page(nowhere, f"{nowhere} has no CSV with measurements for a chart")
        sample_data.write_csv(nowhere / "sweep.csv", [])
        self.assert_no_page(nowhere, f"{nowhere} has no CSV with measurements for a chart")

    def assert_no_page(self, data, reason):
        page = self.folder / "report.html"
        done = run("plot.py", "--data", data, "--html", page)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"plot.py: {reason}\n")
        self.assertFalse(page.exists())


class OwnTest(unittest.TestCase):
    """What a user of the program measured, in any selection."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "mine.v2.csv"

    def charts(self, *rows):
        sample_data.write_csv(self.file, rows)
        charts, left_out = own_charts(self.file)
        self.left_out = left_out
        return charts

    def only_panel(self, *rows):
        (chart,) = self.charts(*rows).values()
        (panel,) = chart["panels"]
        return chart, panel

    def test_a_chart_for_each_operation_and_type(self):
        others = [sample_data.row("sort", "radix", n, n / 1000, type=kind) for kind in ("int32", "float")
                  for n in (1 << 20, 1 << 24)]
        charts = self.charts(*sample_data.scans(), *others)
        self.assertEqual({name: chart["title"] for name, chart in charts.items()},
                         {"mine.v2_1": "scan of int32 on Some Card", "mine.v2_2": "sort of int32 on Some Card",
                          "mine.v2_3": "sort of float on Some Card"})

    def test_lines_of_bandwidth_by_size_with_the_copy(self):
        chart, panel = self.only_panel(*sample_data.scans())
        self.assertEqual((panel["kind"], panel["x"]["scale"], panel["y"]["scale"]), ("lines", "log2", "log"))
        self.assertEqual([line["label"] for line in panel["series"]], [*SCANS, "copy"])
        for line in panel["series"]:
            self.assertEqual([point["x"] for point in line["points"]], [1 << k for k in range(8, 29)])
        self.assertEqual(panel["series"][1]["points"][0]["y"], float(panel["series"][1]["points"][0]["gbps"]))
        self.assertIn("cudaMemcpyAsync", chart["subtitle"])

    def test_sizes_that_are_no_powers_of_two(self):
        _, panel = self.only_panel(*[sample_data.row("scan", "cub", n, n / 1000)
                                     for n in (10000, 9997, 3000, 2997, 1000, 997)])
        self.assertEqual([(point["x"], point["odd"]) for point in panel["series"][0]["points"]],
                         [(1000, False), (3000, False), (10000, False)])

    def test_bars_for_one_size_and_three_elements_less(self):
        chart, panel = self.only_panel(*[sample_data.row("scan", variant, n, 3, percent_of_copy="")
                                         for variant in ("cpu", "cub") for n in (5000, 4997)])
        self.assertEqual((panel["kind"], panel["title"]), ("bars", "5000 elements"))
        self.assertEqual([line["label"] for line in panel["series"]], ["cpu", "cub"])
        self.assertNotIn("cudaMemcpyAsync", chart["subtitle"])

    def test_bars_for_each_shape_of_matrix(self):
        (chart,) = self.charts(*[sample_data.row("row-sum", "adaptive", 1 << 22, 9, shape=shape)
                                 for shape in ("2048x2048", "4194304x1")]).values()
        self.assertEqual([panel["title"] for panel in chart["panels"]], ["2048x2048 elements", "4194304x1 elements"])

    def test_a_variant_measured_in_several_ways_has_several_lines(self):
        _, panel = self.only_panel(*[sample_data.row("scan", variant, n, 5 + n / 1000, mode=mode)
                                     for variant, mode in (("cpu", "batched"), ("cub", "cold"), ("cub", "batched"))
                                     for n in (1 << 10, 1 << 20)])
        self.assertEqual([line["label"] for line in panel["series"]], ["cpu", "cub, cold", "cub, batched", "copy"])
        styles = [tuple(line["style"].values()) for line in panel["series"]]
        self.assertEqual(len(set(styles)), len(styles))

    @sample_data.needs_matplotlib
    def test_images_are_beside_the_file_or_in_a_folder(self):
        wrong = [sample_data.row("scan", "cub", 1 << 24, 7, verified="false"),
                 sample_data.row("scan", "cub", 1 << 24, 7, median_us="", gbps="")]
        sample_data.write_csv(self.file, [*sample_data.scans(), *wrong])
        done = run("plot.py", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, f"plot.py: {self.file}: left out 2 rows without a time or with a wrong result\n")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"mine.v2.csv", "mine.v2.svg", "mine.v2.png"})
        out = self.folder / "new" / "out"
        run("plot.py", self.file, "--out", out)
        self.assertEqual({path.name for path in out.iterdir()}, {"mine.v2.svg", "mine.v2.png"})

    def test_the_page(self):
        sample_data.write_csv(self.file, sample_data.scans())
        page = self.folder / "mine.html"
        done = run("plot.py", self.file, "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"scan of int32 on Some Card"', page.read_text(encoding="utf-8"))

    def test_what_is_no_file_of_measurements(self):
        def reason():
            done = run("plot.py", self.file)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            return done.stderr

        self.assertIn("No such file", reason())
        self.file.write_bytes(b"\xff\xfe\x00")
        self.assertIn("is not a file of measurements", reason())
        self.file.write_text("")
        self.assertIn("lacks the columns", reason())
        sample_data.write_csv(self.file, [])
        self.assertIn("has no measurements", reason())

    def test_files_of_the_same_name_do_not_overwrite_each_other(self):
        other = self.folder / "other" / self.file.name
        other.parent.mkdir()
        for file in (self.file, other):
            sample_data.write_csv(file, sample_data.scans())
        done = run("plot.py", self.file, other, "--out", self.folder / "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("mine.v2.csv", done.stderr)


@sample_data.needs_matplotlib
class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        sample_data.write_all(cls.folder)
        cls.images = cls.folder / "img"
        cls.done = cls.plot(cls.images)

    @classmethod
    def plot(cls, images, *arguments):
        return run("plot.py", "--data", cls.folder, "--out", images, *arguments)

    def test_images_and_what_is_left_out(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("left out utf8: ", self.done.stderr)
        self.assertIn("left out compact_time: ", self.done.stderr)
        drawn = {path.stem for path in self.images.glob("*.svg")}
        self.assertEqual(drawn, {"ladder", "scan_time", "scan_bandwidth", "crossover", "block_sizes", "row_sums"})
        self.assertEqual(drawn, {path.stem for path in self.images.glob("*.png")})

    def test_labels(self):
        texts = {text.text for text in ElementTree.parse(self.images / "scan_time.svg").iter(SVG + "text")}
        self.assertLessEqual({*SCANS, "2²⁰", "100 µs", "elements"}, texts)

    def test_text_is_large_enough(self):
        for image in self.images.glob("*.svg"):
            sizes = re.findall(r"font: (?:700 )?([\d.]+)px", image.read_text(encoding="utf-8"))
            self.assertGreaterEqual(min(map(float, sizes)), 9, image.name)

    def test_colours_contrast_with_a_white_and_a_dark_page(self):
        from drawing import COLOURS

        def brightness(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            red, green, blue = [((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

        for colour in COLOURS.values():
            self.assertGreaterEqual(brightness("#ffffff") / brightness(colour), 3.5)
            self.assertGreaterEqual(brightness(colour) / brightness("#0d1117"), 3.5)
        self.assertGreaterEqual(brightness("#ffffff") / brightness(COLOURS["ink"]), 5)

    def test_bars_are_as_long_as_they_are_fast(self):
        widths = {}
        for path in ElementTree.parse(self.images / "ladder.svg").iter(SVG + "path"):
            if "opacity: 0.85" in path.get("style", ""):
                numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
                widths[min(numbers[1::2])] = max(numbers[::2]) - min(numbers[::2])
        lengths = [widths[top] for top in sorted(widths)]
        speeds = [1 / time_of(variant, 1 << 28) for variant in SCANS]
        for length, speed in zip(lengths, speeds, strict=True):
            self.assertAlmostEqual(length / max(lengths), speed / max(speeds), places=3)

    def test_drawn_again_they_are_the_same(self):
        again = self.folder / "again"
        self.plot(again)
        self.assertEqual({path.name: path.read_bytes() for path in self.images.iterdir()},
                         {path.name: path.read_bytes() for path in again.iterdir()})

    def test_check_tells_what_is_out_of_date(self):
        other = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        sample_data.write_all(other)
        sample_data.write_csv(other / "row_sums.csv", [row | {"median_us": "1.000"} for row in sample_data.row_sums()])
        done = run("plot.py", "--data", other, "--out", self.images, "--check")
        self.assertEqual(done.returncode, 1)
        (verdict,) = [line for line in done.stderr.splitlines() if "out of date" in line]
        self.assertIn("row_sums", verdict)
        self.assertNotIn("scan_time", verdict)


if __name__ == "__main__":
    unittest.main()
