#!/usr/bin/env python3
"""The page of plot.py --html in a browser without a network: no errors, every chart, the CSV's numbers at a point.

Skipped, with the names of the packages that are missing, where there is no Chromium with its driver, or no Selenium to
steer it. With STREAM_COMPACTION_BROWSER=1 scripts/test.sh installs them.
"""

import csv
import importlib.util
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
MISSING = [package for package, found in (("chromium", BROWSER), ("chromium-driver", DRIVER),
                                          ("python3-selenium", SELENIUM)) if not found]


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1000,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class RequirementsTest(unittest.TestCase):
    def test_the_line_of_a_skipped_test_names_what_is_missing(self):
        done = subprocess.run([sys.executable, __file__, "-v", "ReportTest"], capture_output=True, text=True,
                              check=True, env={"PATH": ""})
        self.assertIn("not installed (Debian's names): chromium, chromium-driver", done.stderr)


@unittest.skipIf(MISSING, f"not installed (Debian's names): {', '.join(MISSING)}")
class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        sample_data.write_all(cls.folder)
        page = cls.folder / "report.html"
        done = run("plot.py", "--data", cls.folder, "--html", page)
        assert done.returncode == 0, done.stderr
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.get(page.as_uri())

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def test_no_errors_and_nothing_fetched(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        names = "return performance.getEntriesByType('resource').map(entry => entry.name)"
        fetched = self.browser.execute_script(names)
        self.assertEqual(fetched, [])

    def test_every_chart_is_there(self):
        names = [section.get_attribute("id") for section in self.find("section")]
        self.assertEqual(names, ["ladder", "scan_time", "scan_bandwidth", "crossover", "block_sizes", "row_sums"])
        self.assertEqual(len(self.find("svg")), 7)
        self.assertEqual(len(self.find("#scan_time svg circle:not(.picked)")), len(sample_data.scans()))

    def test_the_contents_lead_to_every_chart(self):
        links = {link.get_attribute("hash")[1:]: link.text for link in self.find("nav a")}
        titles = {section.get_attribute("id"): section.find_element("css selector", "h2").text
                  for section in self.find("section")}
        self.assertEqual(links, titles)

    def test_the_header_names_what_was_measured(self):
        self.assertEqual([value.text for value in self.find("header dd")], ["Some Card", "13.0", "13.1", "0123456789"])

    def emulate(self, command, **settings):
        self.browser.execute_cdp_cmd(f"Emulation.{command}", settings)

    def test_on_a_phone(self):
        """Nothing is wider than the page, no text is small, and tables scroll by themselves."""
        self.emulate("setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        self.addCleanup(self.emulate, "clearDeviceMetricsOverride")
        self.browser.refresh()
        self.addCleanup(self.browser.refresh)
        measure = """
            for (const details of document.querySelectorAll("details")) details.open = true;
            const boxes = [...document.querySelectorAll("svg text")].map(text => text.getBoundingClientRect());
            return {width: document.documentElement.scrollWidth, left: Math.min(...boxes.map(box => box.left)),
                    right: Math.max(...boxes.map(box => box.right)), height: Math.min(...boxes.map(box => box.height)),
                    legends: document.querySelectorAll(".legend").length,
                    scroll: getComputedStyle(document.querySelector("table").parentElement).overflowX};"""
        found = self.browser.execute_script(measure)
        self.assertEqual(found["width"], 390)
        self.assertGreaterEqual(found["left"], 0)
        self.assertLessEqual(found["right"], 390)
        self.assertGreaterEqual(found["height"], 12)
        self.assertEqual(found["legends"], 5)
        self.assertEqual(found["scroll"], "auto")

    def test_in_the_dark(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        for scheme, expected in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
            self.emulate("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.assertEqual(self.browser.execute_script(background), expected)

    def hover(self, point):
        from selenium.webdriver import ActionChains

        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
        ActionChains(self.browser).move_to_element(point).perform()
        return self.find("#tooltip")[0].text

    def test_a_point_tells_the_numbers_of_the_csv(self):
        with (self.folder / "sweep.csv").open(newline="") as file:
            (cub,) = [row for row in csv.DictReader(file) if row["variant"] == "cub" and row["n"] == str(1 << 28)]
        # The last circle belongs to the last variant's largest array.
        told = self.hover(self.find("#scan_time svg circle:not(.picked)")[-1])
        self.assertEqual(told, f"cub, 2²⁸: {cub['median_us']} µs, {cub['gbps']} GB/s, "
                               f"{cub['percent_of_copy']} % of a copy")

    def test_a_bar_tells_its_numbers(self):
        self.assertIn("adaptive, 2048 × 2048: 9.000 µs", self.hover(self.find("#row_sums svg rect")[0]))

    def test_the_table_has_all_numbers_and_opens_by_key(self):
        from selenium.webdriver.common.keys import Keys

        (summary,) = self.find("#scan_time summary")
        summary.send_keys(Keys.ENTER)
        rows = self.find("#scan_time tr")
        self.assertTrue(rows[0].is_displayed())
        self.assertEqual(len(rows), 1 + len(sample_data.scans()))


if __name__ == "__main__":
    unittest.main()
