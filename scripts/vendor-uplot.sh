#!/bin/sh
# Fetches uPlot, the plotting library inside report.html, and keeps of it what the page embeds.
# To move to a newer release: change the two values, run this, then scripts/report-script-print.py,
# and look at the pages that scripts/images draws.
set -eu

VERSION=1.6.32
SHA256=4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d

here=$(cd "$(dirname "$0")/.." && pwd)
there=$here/crates/core/assets/report/uplot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
npm pack --silent "uplot@$VERSION" >/dev/null
echo "$SHA256  uplot-$VERSION.tgz" | sha256sum --check --quiet
tar -xzf "uplot-$VERSION.tgz"
mkdir -p "$there"
cp package/LICENSE package/dist/uPlot.iife.min.js package/dist/uPlot.min.css "$there"
