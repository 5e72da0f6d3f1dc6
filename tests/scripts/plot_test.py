#!/usr/bin/env python3
"""The charts of a small data folder, and the messages about missing or broken files."""

import json
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

    def test_the_spread_is_that_of_the_trials(self):
        for name, least, greatest in (("scan_time", 0.9, 1.25), ("scan_bandwidth", 1 / 1.25, 1 / 0.9),
                                      ("ladder", 1 / 1.25, 1 / 0.9)):
            point = self.series(name)["cub"][-1]
            self.assertAlmostEqual(point["spread"][0] / point["y"], least, places=3)
            self.assertAlmostEqual(point["spread"][1] / point["y"], greatest, places=3)

    def test_the_spread_is_the_noise_if_the_file_has_it(self):
        rows = [row | {"noise_percent": "2"} for row in sample_data.scans()]
        sample_data.write_csv(self.folder / "sweep.csv", rows)
        point = self.series("scan_time")["cub"][-1]
        self.assertAlmostEqual(point["spread"][0] / point["y"], 0.98, places=3)
        self.assertAlmostEqual(point["spread"][1] / point["y"], 1.02, places=3)
        charts, _ = build_charts(self.folder)
        self.assertTrue(charts["scan_time"]["source"].endswith("; whiskers: 95 % interval of the median"))
        self.assertTrue(charts["row_sums"]["source"].endswith("; whiskers: fastest and slowest trial"))

    def test_different_runs_and_what_stands_out_are_named(self):
        self.assertIn(", commit 0123456789; sweep.csv", build_charts(self.folder)[0]["crossover"]["source"])
        rows = [row | {"noise_percent": "1"} for row in sample_data.scans()]
        for row in rows:
            if (row["variant"], row["n"]) == ("cpu", 1 << 20):
                row["median_us"] = "9000.000"
            if row["variant"] == "single-pass":
                row |= {"commit": "9876543210", "timestamp": "2026-12-01T10:00:00Z"}
        sample_data.write_csv(self.folder / "sweep.csv", rows)
        charts, _ = build_charts(self.folder)
        self.assertIn(", different runs: 0123456789, 9876543210 of 2026-12-01; sweep.csv",
                      charts["crossover"]["source"])
        for name, label, at in (("scan_time", "cpu", {(1 << 20) - 3, 1 << 20, 1 << 21}),
                                ("crossover", "scan, from 5,100 on", {1 << 20, 1 << 21})):
            self.assertTrue(charts[name]["source"].endswith("; × stands out (docs/glossary.md)"))
            series = {line["label"]: line["points"] for line in charts[name]["panels"][0]["series"]}
            self.assertEqual({point["x"] for point in series[label] if "stands_out" in point}, at)
        self.assertNotIn("stands_out", str(charts["ladder"]))

    def test_the_crossover_lies_where_the_times_are_equal(self):
        charts, _ = build_charts(self.folder)
        (crossing,) = charts["crossover"]["panels"][0]["level"]["crossings"]
        equal = 5 / (SCANS["cpu"] - SCANS["single-pass"])
        self.assertAlmostEqual(crossing["x"], equal, delta=0.05 * equal)

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

    def charts(self, *rows, columns=sample_data.COLUMNS):
        sample_data.write_csv(self.file, rows, columns)
        charts, self.left_out = own_charts([self.file])
        return charts

    def only_chart(self, *rows, columns=sample_data.COLUMNS):
        (chart,) = self.charts(*rows, columns=columns).values()
        return chart

    def only_panel(self, *rows, columns=sample_data.COLUMNS):
        chart = self.only_chart(*rows, columns=columns)
        (panel,) = chart["panels"]
        return chart, panel

    def labels(self, *rows, columns=sample_data.COLUMNS):
        return [line["label"] for line in self.only_panel(*rows, columns=columns)[1]["series"]]

    def test_a_chart_for_each_operation_and_type(self):
        others = [sample_data.row("sort", "radix", n, n / 1000, type=kind) for kind in ("int32", "float")
                  for n in (1 << 20, 1 << 22, 1 << 24)]
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

    def test_bars_for_each_shape_type_or_input(self):
        for column, found in (("shape", ["2048x2048", "4194304x1"]), ("type", ["int32", "double"]),
                              ("input", ["uniform", "ascending", "and:2", "and:3"])):
            _, panel = self.only_panel(*[sample_data.row("row-sum", variant, 1 << 22, 9, **{column: value})
                                         for variant in ("adaptive", "cub") for value in found])
            self.assertEqual((panel["kind"], panel["categories"]), ("bars", found))
            self.assertEqual([line["label"] for line in panel["series"]], ["adaptive", "cub"])

    def test_lines_over_block_sizes_and_fractions(self):
        chart = self.only_chart(*sample_data.block_sizes())
        self.assertEqual([(panel["kind"], panel["title"], panel["x"]["label"]) for panel in chart["panels"]],
                         [("lines", f"2{power} elements", "threads per block") for power in ("²⁰", "²⁴")])
        _, panel = self.only_panel(*[sample_data.row("compact", "cub", 1 << 20, 5 + kept, input=f"kept:{kept}")
                                     for kept in (0.5, 0, 1)])
        self.assertEqual((panel["kind"], panel["x"]["label"]), ("lines", "kept"))
        self.assertEqual([point["x"] for point in panel["series"][0]["points"]], [0, 0.5, 1])

    def test_a_variant_without_a_block_size_has_a_bar_beside_the_others(self):
        rows = [sample_data.row("scan", "naive", 1 << 20, 9, block_size=threads) for threads in (64, 128, 256)]
        _, panel = self.only_panel(*rows, sample_data.row("scan", "cub", 1 << 20, 5))
        self.assertEqual(panel["categories"], ["naive, 64", "naive, 128", "naive, 256", "cub"])

    def test_a_variant_measured_in_several_ways_has_several_lines(self):
        _, panel = self.only_panel(*[sample_data.row("scan", variant, n, 5 + n / 1000, mode=mode)
                                     for variant, mode in (("cpu", "batched"), ("cub", "cold"), ("cub", "batched"))
                                     for n in (1 << 10, 1 << 16, 1 << 20)])
        self.assertEqual([line["label"] for line in panel["series"]], ["cpu", "cub, cold", "cub, batched", "copy"])
        styles = [tuple(line["style"].values()) for line in panel["series"]]
        self.assertEqual(len(set(styles)), len(styles))

    def test_several_machines_are_in_one_chart(self):
        """The processor counts for CPU variants, the card for the others."""
        rows = [sample_data.row("scan", variant, n, 5 + n / 1000, gpu=gpu, cpu=cpu if variant == "cpu" else "")
                for gpu, cpu in (("Some Card", "Some Processor"), ("Other Card", "Some Processor"), ("", "Old One"))
                for variant in ("cpu", "cub") if gpu or variant == "cpu" for n in (1 << 10, 1 << 16, 1 << 20)]
        chart, panel = self.only_panel(*rows)
        self.assertEqual(chart["title"], "scan of int32 on Some Card, Other Card, Old One")
        self.assertEqual([(line["label"], line["machine"]) for line in panel["series"]],
                         [("cpu, Some Processor", "Some Processor"), ("cpu, Old One", "Old One"),
                          ("cub, Some Card", "Some Card"), ("cub, Other Card", "Other Card"),
                          ("copy, Some Card", "Some Card"), ("copy, Other Card", "Other Card")])

    def test_commits_are_told_apart_if_they_measured_the_same(self):
        rows = [sample_data.row("scan", "cub", n, 5, commit=commit)
                for commit, n in (("old", 1 << 10), ("old", 1 << 16), ("new", 1 << 20))]
        self.assertEqual(self.labels(*rows), ["cub", "copy"])
        again = sample_data.row("scan", "cub", 1 << 16, 5, commit="new")
        self.assertEqual(self.labels(*rows, again), ["cub, old", "cub, new", "copy"])

    def test_shapes_of_one_size_are_told_apart(self):
        rows = [sample_data.row("row-sum", "cub", 1 << n, 5, shape=shape)
                for n, shape in ((20, "1024x1024"), (22, "2048x2048"), (24, "4096x4096"))]
        self.assertEqual(self.labels(*rows), ["cub", "copy"])
        other = sample_data.row("row-sum", "cub", 1 << 21, 5, shape="1024x2048")
        self.assertEqual(self.labels(*rows, other), ["cub", "copy"])
        self.assertEqual(len(self.labels(*rows, other, other | {"shape": "2048x1024"})), 6)

    def test_columns_and_modes_that_come_later_do_not_matter(self):
        columns = (*sample_data.COLUMNS, "colour")
        rows = [sample_data.row("scan", "cub", 1 << 20, 5, mode=mode, colour="red") for mode in ("warm", "cold")]
        rows.append(sample_data.row("scan", "cub", 1 << 20, 5, mode="untimed", median_us="", gbps=""))
        self.assertEqual(self.labels(*rows, columns=columns), ["cub, warm", "cub, cold"])
        self.assertEqual(self.left_out, 1)

    def test_a_last_line_that_breaks_off_is_left_out(self):
        self.charts(sample_data.row("scan", "cub", 1 << 20, 5))
        with self.file.open("a") as file:
            file.write("Some Card,9.0,13.1\n")
        charts, left_out = own_charts([self.file])
        self.assertEqual((len(charts), left_out), (1, 1))

    def test_files_of_samples_give_the_same_charts(self):
        """Numbers of JSON have more digits."""
        rows = [row | {"noise_percent": "2.000"} for row in sample_data.scans()]
        expected = self.charts(*rows)
        objects = [{column: None if value == "" else value for column, value in row.items()}
                   | {"gbps": float(row["gbps"]) + 1e-5, "verified": True, "samples_us": [1.5]}
                   for row in rows]
        file = self.file.with_suffix(".jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in objects))
        charts, left_out = own_charts([file])
        self.assertEqual(left_out, 0)
        self.assertEqual([chart["panels"] for chart in charts.values()],
                         [chart["panels"] for chart in expected.values()])

    def test_every_file_of_the_project_can_be_drawn(self):
        for file in sorted((sample_data.ROOT / "data").rglob("*.csv")):
            with file.open() as lines:
                is_ours = {"variant", "gbps"} <= set(next(lines).split(","))
            if is_ours:
                charts, _ = own_charts([file])
                self.assertTrue(charts, file)

    @sample_data.needs_matplotlib
    def test_images_are_beside_the_file_or_in_a_folder(self):
        wrong = [sample_data.row("scan", "cub", 1 << 24, 7, verified="false"),
                 sample_data.row("scan", "cub", 1 << 24, 7, median_us="", gbps="")]
        sample_data.write_csv(self.file, [*sample_data.scans(), *wrong])
        done = run("plot.py", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "plot.py: left out 2 rows without a time or with a wrong result\n")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"mine.v2.csv", "mine.v2.svg", "mine.v2.png"})
        out = self.folder / "new" / "out"
        run("plot.py", self.file, "--out", out)
        self.assertEqual({path.name for path in out.iterdir()}, {"mine.v2.svg", "mine.v2.png"})

    def test_what_is_no_file_of_measurements(self):
        def reason():
            done = run("plot.py", self.file)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            return done.stderr

        self.assertIn("No such file", reason())
        self.file.write_bytes(b"\xff\xfe\x00")
        self.assertIn("is not a file of measurements", reason())
        self.file.write_text('{}\n1\n')
        self.assertIn("its rows are no objects", reason())
        self.file.write_text('{"gpu": [')
        self.assertIn("is not a file of measurements", reason())
        self.file.write_text('{"context": {}}')
        self.assertIn("lacks the columns", reason())
        self.file.write_text("")
        self.assertIn("lacks the columns", reason())
        sample_data.write_csv(self.file, [])
        self.assertIn("has no measurements", reason())

    def test_numbers_that_no_measurement_has(self):
        for column, wrong in (("median_us", "abc"), ("median_us", "nan"), ("median_us", "-5"), ("median_us", "0"),
                              ("median_us", "inf"), ("gbps", "-1"), ("n", "many"), ("min_us", "nan")):
            rows = sample_data.scans()
            rows[2] |= {column: wrong}
            sample_data.write_csv(self.file, rows)
            done = run("plot.py", self.file)
            self.assertEqual((done.returncode, done.stderr), (2, f"plot.py: mine.v2.csv, row 3: {column} is {wrong}\n"))

    @sample_data.needs_matplotlib
    def test_several_files_share_their_images(self):
        other = self.folder / "other" / "theirs.csv"
        other.parent.mkdir()
        for file, gpu in ((self.file, "Some Card"), (other, "Other Card")):
            sample_data.write_csv(file, [row | {"gpu": gpu} for row in sample_data.scans()])
        done = run("plot.py", self.file, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        svg = ElementTree.parse(self.folder / "mine.v2+theirs.svg")
        texts = {text.text for text in svg.iter(SVG + "text")}
        self.assertLessEqual({"cub, Some Card", "cub, Other Card"}, texts)


@sample_data.needs_matplotlib
class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        sample_data.write_all(cls.folder)
        cls.images = cls.folder / "img"
        cls.done = run("plot.py", "--data", cls.folder, "--out", cls.images)

    def test_images_and_what_is_left_out(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("left out utf8: ", self.done.stderr)
        drawn = {path.name for path in self.images.iterdir()}
        self.assertEqual(drawn, {f"{name}.svg" for name in ("ladder", "scan_time", "scan_bandwidth", "crossover",
                                                            "block_sizes", "row_sums")})

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
