"""The page of plot.py --html. It loads nothing and runs nothing: its charts are matplotlib's SVGs, its filters CSS."""

import html
import io
import pathlib
import re
import xml.etree.ElementTree as ElementTree

from charts import ABOUT, FILTERS, unique
from drawing import COLOURS, FADES, are_named, draw_narrow, plt

TEMPLATE = pathlib.Path(__file__).with_name("report.html")
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
SAMPLES = {"solid": "━━", "dashed": "╍╍", "dotted": "┅┅", "dashdot": "━╍"}
NUMBERS = {"us": ("µs", "{} µs"), "gbps": ("GB/s", "{} GB/s"), "percent": ("% of a copy", "{} % of a copy"),
           "noise": ("noise", "± {} %"), "enqueue": ("µs to enqueue", "enqueued in {} µs")}

ElementTree.register_namespace("", SVG.strip("{}"))
ElementTree.register_namespace("xlink", HREF[1:HREF.index("}")])


def tag(name, *content, **attributes):
    """An element of HTML. Its content is HTML; the values of its attributes are text."""
    names = [key.replace("_", "-").strip("-") for key in attributes]
    settings = "".join(f' {key}="{html.escape(value)}"' for key, value in zip(names, attributes.values()))
    return f"<{name}{settings}>{''.join(content)}</{name}>"


def text_tag(name, text, **attributes):
    return tag(name, html.escape(text), **attributes)


def filtered(series):
    """The attributes by which filters hide something: what all its series have in common."""
    found = {column: unique(line[column] for line in series) for column in FILTERS}
    return {f"data-{column}": values[0] for column, values in found.items() if len(values) == 1 and values[0]}


def section_id(name):
    return re.sub(r"[^\w-]", "-", name)


def numbers_of(point):
    """What the file says of a point."""
    return [form.format(point[column]) for column, (_, form) in NUMBERS.items() if point.get(column)]


def tip(line, point):
    numbers = numbers_of(point) or [f"{point['y']:.1f} GB/s"]
    return f"{line['label']}, {point['at']}: {', '.join(numbers)}"


def add_title(element, text):
    ElementTree.SubElement(element, SVG + "title").text = text


def mark(group, line, points):
    """Makes the group of a series or bar known to the filters and lets its points tell their numbers."""
    for key, value in filtered([line]).items():
        group.set(key, value)
    dots = list(group.iter(SVG + "use"))
    for element, point in zip(dots or [group], points):
        add_title(element, tip(line, point))


def inline_svg(figure, drawn, name):
    """The figure as an element of the page, in the colours of the page."""
    parts = {f"part-{i}": part for i, part in enumerate(drawn)}
    for key, (_, _, artist) in parts.items():
        artist.set_gid(key)
    file = io.StringIO()
    with plt.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    root = ElementTree.fromstring(file.getvalue())
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', file.getvalue()))
    for element in list(root.iter()):
        if element.get("id") in parts:
            mark(element, *parts[element.get("id")][:2])
        if element.get("id") not in used:
            element.attrib.pop("id", None)
    root.remove(root.find(SVG + "metadata"))
    for size in ("width", "height"):
        del root.attrib[size]
    root.set("role", "img")
    root.set("aria-label", f"{name}; the table below has the numbers")
    text = ElementTree.tostring(root, encoding="unicode")
    for hue, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{hue})")
    return text


def legend(chart, panel):
    """Names the lines, or the bars within each category."""
    is_line = panel["kind"] == "lines"
    names = []
    for line in panel["series"] if is_line or are_named(chart["panels"]) else []:
        hue, dashes = line["style"].values()
        sample = SAMPLES[dashes] if is_line else tag("span", "■", style=f"opacity: {FADES[dashes]}")
        names.append(tag("li", sample, " ", html.escape(line["label"]), style=f"color: var(--{hue})",
                         **filtered([line])))
    return tag("ul", *names, _class="legend") if names else ""


def table(panel):
    x = panel["x"]["label"] if panel["kind"] == "lines" else ""
    head = [text_tag("th", title, scope="col") for title in ("", x, *(title for title, _ in NUMBERS.values()))]
    rows = [tag("tr", *(text_tag("td", str(cell)) for cell in (line["label"], point["at"],
                                                              *(point.get(column, "") for column in NUMBERS))),
                **filtered([line]))
            for line in panel["series"] for point in line["points"] if point.get("us")]
    return tag("table", text_tag("caption", panel["title"]), tag("thead", tag("tr", *head)), tag("tbody", *rows))


def figure_of(chart, panel, figure, drawn):
    name = f"{chart['title']} {panel['title']}".strip()
    caption = text_tag("figcaption", panel["title"]) if panel["title"] else ""
    return tag("figure", caption, inline_svg(figure, drawn, name), legend(chart, panel), **filtered(panel["series"]))


def section(name, chart):
    figures = [figure_of(chart, *drawn) for drawn in draw_narrow(chart)]
    numbers = tag("details", tag("summary", "The numbers"), tag("div", *map(table, chart["panels"]), _class="scroll"))
    return tag("section", text_tag("h2", chart["title"]), text_tag("p", chart["subtitle"]), *figures, numbers,
               text_tag("p", chart["source"], _class="source"), id=section_id(name), **filtered(series_of([chart])))


def series_of(charts):
    return [line for chart in charts for panel in chart["panels"] for line in panel["series"]]


def machines(charts):
    """A line for each card or, without one, each processor."""
    rows = [dict(zip(ABOUT, about)) for chart in charts for about in chart["about"]]
    titles = {"cpu": "processor", "toolkit": "CUDA toolkit", "driver": "driver for CUDA", "commit": "commit"}
    lines = []
    for host in unique(row["gpu"] or row["cpu"] for row in rows):
        own = [row for row in rows if (row["gpu"] or row["cpu"]) == host]
        facts = [f"{title} {', '.join(found)}" for column, title in titles.items()
                 if (found := unique(row[column] for row in own if row[column] not in ("", host)))]
        lines.append(tag("li", text_tag("b", host or "CPU"), html.escape(f": {'; '.join(facts)}")))
    return tag("ul", *lines, _class="machines")


def contents(charts):
    links = [tag("li", text_tag("a", chart["title"], href=f"#{section_id(name)}"), **filtered(series_of([chart])))
             for name, chart in charts.items()]
    return tag("ol", *links)


def filters(charts):
    """Checkboxes for what can be hidden, and the style sheet by which they hide it."""
    fields, rules = [], []
    for column in FILTERS:
        found = sorted({line[column] for line in series_of(charts.values())} - {""})
        boxes = []
        for value in found if len(found) > 1 else []:
            box = f"filter-{len(rules)}"
            boxes.append(tag("label", f'<input type="checkbox" id="{box}" checked> ', html.escape(value)))
            literal = value.replace("\\", "\\\\").replace('"', '\\"').replace("<", "\\3c ")
            rules.append(f'body:has(#{box}:not(:checked)) [data-{column}="{literal}"] {{ display: none; }}')
        if boxes:
            fields.append(tag("fieldset", text_tag("legend", column.capitalize()), *boxes))
    return tag("form", *fields, autocomplete="off", aria_label="Filters"), "\n".join(rules)


def page(charts):
    boxes, rules = filters(charts)
    parts = {"MACHINES": machines(charts.values()), "CONTENTS": contents(charts), "FILTERS": boxes,
             "CHARTS": "\n".join(section(name, chart) for name, chart in charts.items()), "RULES": rules}
    return re.sub(r"@([A-Z]+)@", lambda place: parts[place[1]], TEMPLATE.read_text(encoding="utf-8"))
