#!/usr/bin/env python3
"""The page of plot.py --html in a browser without a network: no errors, every chart, the CSV's numbers at a point, the
filters; wide and narrow.

Skipped, with the names of the packages that are missing, where there is no Chromium with its driver, or no Selenium to
steer it. With STREAM_COMPACTION_BROWSER=1 scripts/test.sh installs them; then nothing is skipped.
"""

import csv
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import sample_data
from sample_data import run

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
SELENIUM = importlib.util.find_spec("selenium")
MATPLOTLIB = importlib.util.find_spec("matplotlib")
MISSING = [package for package, found in (("chromium", BROWSER), ("chromium-driver", DRIVER),
                                          ("python3-selenium", SELENIUM), ("python3-matplotlib", MATPLOTLIB))
           if not found]
# Where the browser is asked for, a missing package is an error.
needs_browser = unittest.skipIf(MISSING and not os.environ.get("STREAM_COMPACTION_BROWSER"),
                                f"not installed (Debian's names): {', '.join(MISSING)}")


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class RequirementsTest(unittest.TestCase):
    def test_where_the_browser_is_asked_for_nothing_is_skipped(self):
        done = subprocess.run([sys.executable, __file__, "-v", "ReportTest"], capture_output=True, text=True,
                              check=False, env={"PATH": "", "STREAM_COMPACTION_BROWSER": "1"})
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("skipped", done.stderr)


class PageTest(unittest.TestCase):
    """A page in the browser. Each test begins on a wide screen, with everything shown."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        page = cls.folder / "report.html"
        done = run("plot.py", *cls.inputs(), "--html", page)
        assert done.returncode == 0, done.stderr
        cls.url = page.as_uri()
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.show(1280)
        self.browser.get(self.url)

    def show(self, width):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def texts(self, selector):
        return [element.text for element in self.find(selector)]

    def shown(self, selector):
        return [element for element in self.find(selector) if element.is_displayed()]

    def evaluate(self, expression):
        return self.browser.execute_script(f"return {expression}")

    def box(self, name):
        (label,) = [label for label in self.find("form label") if label.text == name]
        return label.find_element("css selector", "input")


@needs_browser
class ReportTest(PageTest):
    @classmethod
    def inputs(cls):
        sample_data.write_all(cls.folder)
        return "--data", cls.folder

    def test_no_errors_and_nothing_fetched(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        self.assertEqual(self.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)"), [])
        self.assertEqual(self.find("script"), [])

    def test_every_chart_is_there(self):
        names = [section.get_attribute("id") for section in self.find("section")]
        self.assertEqual(names, ["ladder", "scan_time", "scan_bandwidth", "crossover", "block_sizes", "row_sums"])
        self.assertEqual([link.get_attribute("hash")[1:] for link in self.find("nav a")], names)
        self.assertEqual(len(self.find("svg")), 7)
        self.assertEqual(len(self.find("#scan_time svg [data-variant] use")), len(sample_data.scans()))
        self.assertEqual(len(self.find("#ladder svg [data-variant] title")), 4 * len(sample_data.SCANS) - 1)

    def test_fits_every_screen(self):
        """Nothing is wider than the page; tables scroll by themselves."""
        measure = """(() => {
            for (const details of document.querySelectorAll("details")) details.open = true;
            const boxes = [...document.querySelectorAll("svg text")].map(text => text.getBoundingClientRect());
            return [document.documentElement.scrollWidth, Math.min(...boxes.map(box => box.left)),
                    Math.max(...boxes.map(box => box.right))];
        })()"""
        for width in (390, 1280):
            self.show(width)
            whole, left, right = self.evaluate(measure)
            self.assertLessEqual(max(whole, right), width)
            self.assertGreaterEqual(left, 0)

    def test_filters_hide_lines_names_rows_and_whole_charts(self):
        self.assertEqual(self.texts("legend"), ["Operation", "Variant", "Machine"])
        self.find("#scan_time summary")[0].click()
        cub = "#scan_time [data-variant=cub]"
        before = len(self.shown(cub))
        self.box("cub").click()
        self.assertEqual(self.shown(cub), [])
        self.assertTrue(self.shown("#scan_time [data-variant=naive]"))
        self.box("cub").click()
        self.assertEqual(len(self.shown(cub)), before)
        self.box("row-sum").click()
        self.assertEqual(self.shown("#row_sums"), [])
        self.assertEqual(len(self.shown("nav li")), 5)
        self.box("Some Card").click()
        self.assertEqual([line.text.split()[-1] for line in self.shown("#scan_time .legend li")], ["cpu"])

    def test_a_point_tells_the_numbers_of_the_csv(self):
        with (self.folder / "sweep.csv").open(newline="") as file:
            (cub,) = [row for row in csv.DictReader(file) if row["variant"] == "cub" and row["n"] == str(1 << 28)]
        tips = [tip.get_attribute("textContent") for tip in self.find("#scan_time svg [data-variant=cub] use title")]
        self.assertEqual(len(tips), 42)
        self.assertEqual(tips[20], f"cub, 2²⁸: {cub['median_us']} µs, {cub['gbps']} GB/s, "
                                   f"{cub['percent_of_copy']} % of a copy")
        self.assertIn(f"cub, {(1 << 28) - 3}: ", tips[41])

    def test_the_table_has_all_numbers(self):
        self.find("#scan_time summary")[0].click()
        rows = self.find("#scan_time tr")
        self.assertTrue(rows[0].is_displayed())
        self.assertEqual(len(rows), 1 + len(sample_data.scans()))


@needs_browser
class OwnReportTest(PageTest):
    """A page of two files, from two machines, with noise and a name that HTML would read otherwise."""

    @classmethod
    def inputs(cls):
        files = [cls.folder / "my own.csv", cls.folder / "theirs.csv"]
        for file, gpu in zip(files, ("Card <\"A\\B\">", "Card B")):
            rows = [row | {"gpu": gpu, "noise_percent": "2.5", "enqueue_us": "4.125"} for row in sample_data.scans()]
            sample_data.write_csv(file, rows)
        return files

    def test_the_header_names_the_machines(self):
        facts = "processor Some Processor; CUDA toolkit 13.0; driver for CUDA 13.1; commit 0123456789"
        self.assertEqual(self.texts("header li"), [f"Card <\"A\\B\">: {facts}", f"Card B: {facts}"])

    def test_each_machine_can_be_hidden(self):
        self.assertEqual(self.texts("legend"), ["Variant", "Machine"])
        names = {name[3:] for name in self.texts(".legend li")}
        self.assertLessEqual({"cub, Card <\"A\\B\">", "cub, Card B", "cpu"}, names)
        self.box("Card <\"A\\B\">").click()
        left = {line.text[3:] for line in self.shown(".legend li")}
        self.assertEqual(left, {name for name in names if "<" not in name})

    def test_the_table_has_the_noise_and_the_time_to_enqueue(self):
        self.find("summary")[0].click()
        self.assertEqual(self.texts("th")[-2:], ["noise", "µs to enqueue"])
        self.assertEqual(set(self.texts("td:nth-last-child(2)")), {"2.5"})
        self.assertEqual(set(self.texts("td:last-child")), {"4.125"})
        tips = [tip.get_attribute("textContent") for tip in self.find("svg [data-variant=cub] use title")]
        self.assertTrue(all(tip.endswith(", ± 2.5 %, enqueued in 4.125 µs") for tip in tips), tips[:1])
        self.assertIn("95 % interval", self.find(".source")[0].text)


if __name__ == "__main__":
    unittest.main()
