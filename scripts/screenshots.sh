#!/usr/bin/env bash
# Takes the pictures of the two pages, docs/explore.html and that of the measurements, which README.md shows.
source "$(dirname "$0")/setup.sh"
install_packages chromium
find_python

# take NAME ADDRESS: writes img/NAME.png.
take() {
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,900 \
        --screenshot="$PWD/img/$1.png" "$2" 2>build/chromium.log
}

"$python" scripts/plot.py --html build/report.html
take explore_page "file://$PWD/docs/explore.html#look-back/2/40" # any order
take report_page "file://$PWD/build/report.html"
