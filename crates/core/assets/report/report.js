// Draws the plots over time of report.html with uPlot, on one shared time axis. Everything it shows
// comes from the JSON in #data; text goes through textContent only, never through innerHTML.
(() => {
  "use strict";
  const root = document.documentElement;
  let data = JSON.parse(document.getElementById("data").textContent);
  let boxes = [];
  const HEIGHT = 230;
  // The room of an axis. Plots with one axis leave it free on the right, so that all are as wide.
  const SIDE = 62;
  const NARROW = 600;
  let plots = [];
  let moving = false;

  // The whole run: the x axis of all plots, whatever each of them has data for.
  let whole, shown;
  const gather = () => {
    boxes = [...document.querySelectorAll(".plot[data-plot]")].filter((box) => data[box.dataset.plot]);
    const ends = boxes.map((box) => data[box.dataset.plot].at).map((at) => [at[0], at[at.length - 1]]);
    whole = { min: Math.min(...ends.map((end) => end[0])), max: Math.max(...ends.map((end) => end[1])) };
  };
  gather();
  shown = { ...whole };

  // Lines differ by dashes as well as by colours; report.css has the same for pictures without a script.
  const DASHES = { 1: [12, 3], 2: [2, 3], 3: [9, 3, 2, 3], 4: [6, 4], 5: [4, 4] };
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const short = (n) => {
    const size = Math.abs(n);
    const [scaled, unit] = size >= 1e9 ? [n / 1e9, "G"] : size >= 1e6 ? [n / 1e6, "M"] : size >= 1e4 ? [n / 1e3, "k"] : [n, ""];
    return trim(scaled.toFixed(Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2)) + unit;
  };
  const millis = (n) =>
    n < 1 ? trim((n * 1e3).toPrecision(3)) + "µs" : n < 1e3 ? trim(n.toPrecision(3)) + "ms" : trim((n / 1e3).toPrecision(3)) + "s";
  const told = { ms: millis, "/s": (n) => short(n) + "/s", "%": (n) => trim(n.toFixed(2)) + "%", MB: (n) => n.toFixed(1) + " MB", "": short };
  const clock = (secs) => {
    const tenths = Math.round(secs * 10) / 10;
    if (tenths < 60) return tenths + "s";
    const whole = Math.round(secs);
    const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    const digits = parts.map((part) => String(part).padStart(2, "0"));
    return (parts[0] ? digits : digits.slice(1)).join(":").replace(/^0/, "");
  };

  // The scale spans what is seen and the limits, so that a limit that holds is seen as well.
  const range = (chart, unit) => (_, low, high) => {
    const limits = unit === chart.series[0].unit ? chart.limits.map((limit) => limit[0]) : [];
    const top = Math.max(high ?? 0, ...limits);
    if (unit === "ms") {
      const bottom = Math.min(low > 0 ? low : Infinity, ...limits);
      return isFinite(bottom) && top > 0 ? uPlot.rangeLog(bottom, top, 10, true) : [0.1, 1];
    }
    if (unit === "%" && chart.series[0].unit !== "%") return [0, 100];
    // The names of steps stand above the lines.
    return [0, top > 0 ? top * (chart.spans.length ? 1.2 : 1.08) : 1];
  };

  const spans = (chart) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    chart.spans.forEach(([from, to, name, mark, ...fault], at) => {
      const [left, right] = [from, to].map((secs) => u.valToPos(secs, "x", true));
      if (fault.length) return mark === "fault" && shade(u, left, right, fault[0]);
      if (mark !== "step" || at % 2 === 1) {
        ctx.fillStyle = css(mark === "step" ? "--span" : "--held");
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
      }
      ctx.fillStyle = css("--muted");
      const x = Math.max(left, bbox.left) + 4 * devicePixelRatio;
      if (ctx.measureText(name).width < right - x) ctx.fillText(name, x, bbox.top + 3 * devicePixelRatio);
    });
    cells(chart, u);
    ctx.restore();
  };

  // A time in which a fault was at work; a single hit is a moment, and is seen all the same.
  const shade = ({ ctx, bbox }, left, right, colour) => {
    const width = Math.max(right - left, 2 * devicePixelRatio);
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = css("--c" + colour);
    ctx.globalAlpha = 0.14;
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.globalAlpha = 0.9;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.strokeRect(left, bbox.top - 2 * devicePixelRatio, width, bbox.height + 4 * devicePixelRatio);
    ctx.restore();
  };

  // Text with a rim in the colour of the ground, so that it is read across lines.
  const rimmed = (ctx, text, x, y) => {
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.lineJoin = "round";
    ctx.strokeStyle = css("--card");
    ctx.strokeText(text, x, y);
    ctx.restore();
    ctx.fillText(text, x, y);
  };

  // The numbers of faults, at the foot, one above the other where there are several.
  const numbers = (chart) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillStyle = css("--ink");
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    for (const [from, to, name, mark, , row] of chart.spans) {
      const [left, right] = [from, to].map((secs) => u.valToPos(secs, "x", true));
      if (mark !== "fault" || left > bbox.left + bbox.width || right < bbox.left) continue;
      const y = bbox.top + bbox.height - (3 + 14 * (row % 4)) * devicePixelRatio;
      rimmed(ctx, name, Math.max(left, bbox.left) + 4 * devicePixelRatio, y);
    }
    ctx.restore();
  };

  // The faults that were at work between two moments, for a table.
  const faults = (chart, from, to) => {
    const hit = chart.spans.filter((span) => span.length > 4 && span[0] < to && span[1] >= from);
    const numbers = [...new Set(hit.map((span) => span[5]))].sort((a, b) => a - b);
    return numbers.map((number) => "F" + (number + 1)).join(", ") || "-";
  };

  const cells = (chart, u) => {
    if (!chart.cells) return;
    let highest = 1;
    for (let at = 2; at < chart.cells.length; at += 3) highest = Math.max(highest, chart.cells[at]);
    const most = Math.log1p(highest);
    const step = chart.at.length > 1 ? chart.at[1] - chart.at[0] : 1;
    u.ctx.fillStyle = css("--c0");
    for (let cell = 0; cell < chart.cells.length; cell += 3) {
      const [at, row, count] = chart.cells.slice(cell, cell + 3);
      const secs = chart.at[at];
      if (secs + step < u.scales.x.min || secs > u.scales.x.max) continue;
      const [left, right] = [secs, secs + step].map((x) => u.valToPos(x, "x", true));
      const edges = [row, row + 1].map((row) => 10 ** (row / chart.rows));
      const [bottom, top] = edges.map((y) => u.valToPos(y, "ms", true));
      u.ctx.globalAlpha = 0.12 + (0.88 * Math.log1p(count)) / most;
      u.ctx.fillRect(left, top, Math.max(right - left, 1), bottom - top);
    }
    u.ctx.globalAlpha = 1;
  };

  const limits = (chart) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = css("--bad");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    for (const [value, name] of chart.limits) {
      const y = u.valToPos(value, chart.series[0].unit, true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      const label = `${name} ${told[chart.series[0].unit](value)}`;
      rimmed(ctx, label, bbox.left + bbox.width - 4 * devicePixelRatio, y - 3 * devicePixelRatio);
    }
    ctx.restore();
  };

  const lines = (chart, kinds) =>
    chart.series.map((series, at) => {
      const line = {
        label: series.name,
        scale: series.unit,
        // On the heat map the middle is enough of a line; the other values are read off the legend.
        stroke: !chart.cells ? css("--c" + series.colour) : series.name === "p50" ? css("--ink") : "transparent",
        // Thinner beyond the second axis: what has no axis of its own is read off the legend.
        width: kinds.indexOf(series.unit) > 1 ? 1 : 1.75,
        points: { show: chart.at.length < 4, size: 5 },
        spanGaps: false,
        value: (_, value, __, index) => {
          const own = index == null ? null : series.values[index];
          return own == null ? "–" : told[series.unit](own);
        },
      };
      if (chart.stack) line.fill = css("--c" + series.colour) + "d9";
      else if (series.unit === "%" && at > 0) line.fill = css("--c" + series.colour) + "33";
      if (!line.fill && !chart.cells) line.dash = DASHES[series.colour];
      return line;
    });

  // The beginning of a line in the legend, with its dashes.
  const marker = (u, at) => {
    const { dash } = u.series[at];
    const colour = u.series[at].stroke(u, at);
    if (!dash) return colour;
    let end = 0;
    const stops = dash.map((length, part) => `${part % 2 ? "transparent" : colour} ${end}px ${(end += length)}px`);
    return `repeating-linear-gradient(90deg, ${stops.join(", ")})`;
  };

  // Series on top of each other: the last is drawn first, so that all of them are seen.
  const values = (chart) => {
    if (!chart.stack) return chart.series.map((series) => series.values);
    const sum = chart.at.map(() => 0);
    return chart.series.map((series) => series.values.map((value, at) => (sum[at] += value ?? 0)));
  };

  // Columns in the order in which they are drawn.
  const ordered = (chart) => (chart.stack ? [...chart.series.keys()].reverse() : [...chart.series.keys()]);
  const columns = (chart) => {
    const numbers = values(chart);
    return [chart.at, ...ordered(chart).map((at) => numbers[at])];
  };

  const axes = (kinds) => {
    const look = { stroke: css("--muted"), font: "12px system-ui, sans-serif", ticks: { stroke: css("--grid") } };
    const grid = { stroke: css("--grid"), width: 1 };
    const incrs = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
    const x = { ...look, grid, space: 70, size: 36, incrs, values: (_, splits) => splits.map(clock) };
    // Of a logarithmic axis only the decades have a line.
    const decades = (_, splits) => splits.map((split) => (Math.abs(Math.log10(split) % 1) < 1e-6 ? split : null));
    const sides = kinds.slice(0, 2).map((unit, at) => ({
      ...look,
      ...(unit === "ms" && { ticks: { ...look.ticks, filter: decades } }),
      scale: unit,
      side: at ? 1 : 3,
      size: SIDE,
      grid: at ? { show: false } : unit === "ms" ? { ...grid, filter: decades } : grid,
      values: (_, splits) => splits.map((split) => (split == null ? "" : told[unit](split))),
    }));
    return [x, ...sides];
  };

  const draw = (box) => {
    const chart = data[box.dataset.plot];
    const kinds = [...new Set(chart.series.map((series) => series.unit))];
    const scales = { x: { time: false } };
    for (const unit of kinds) scales[unit] = { distr: unit === "ms" ? 3 : 1, range: range(chart, unit) };
    const drawn = lines(chart, kinds);
    const options = {
      width: box.clientWidth,
      height: HEIGHT,
      scales,
      axes: axes(kinds),
      padding: [null, kinds.length > 1 || box.clientWidth < NARROW ? null : SIDE, null, null],
      series: [{ label: "since the start", value: (_, secs) => (secs == null ? "–" : clock(secs)) }, ...ordered(chart).map((at) => drawn[at])],
      cursor: {
        sync: { key: "run" },
        drag: { x: true, y: false },
        bind: { dblclick: () => () => show(whole) },
      },
      legend: { markers: { width: 0, fill: marker } },
      hooks: {
        drawAxes: [spans(chart)],
        draw: [limits(chart), numbers(chart)],
        setScale: [(u, key) => key === "x" && !moving && show(u.scales.x)],
      },
    };
    box.querySelectorAll("svg, .keys").forEach((still) => still.toggleAttribute("hidden", true));
    moving = true;
    const plot = new uPlot(options, columns(chart), box);
    plot.setScale("x", shown);
    moving = false;
    // The first row of the legend is the time.
    box.querySelectorAll(".u-marker").forEach((mark, at) => mark.classList.toggle("filled", !!options.series[at].fill));
    return plot;
  };

  // One range for all plots.
  const show = ({ min, max }) => {
    if (min == null || max == null || !(max > min)) return;
    shown = { min, max };
    moving = true;
    for (const plot of plots) plot.setScale("x", shown);
    moving = false;
    root.dataset.from = min;
    root.dataset.to = max;
    const all = min <= whole.min && max >= whole.max;
    document.getElementById("shown").textContent = `${clock(min)} to ${clock(max)}${all ? " (all)" : ""}`;
    document.querySelectorAll(".time details[open]").forEach(fill);
  };

  // The table of a plot has a row for each point that is shown.
  const fill = (details) => {
    const section = details.closest(".time");
    const chart = data[section.id];
    const body = details.querySelector("tbody");
    const step = chart.at.length > 1 ? chart.at[1] - chart.at[0] : 1;
    const faulty = chart.spans.some((span) => span.length > 4);
    const rows = chart.at.flatMap((secs, at) => {
      if (secs < shown.min || secs > shown.max) return [];
      const row = document.createElement("tr");
      const cell = (kind, text) => (row.appendChild(document.createElement(kind)).textContent = text);
      cell("th", clock(secs));
      row.firstChild.scope = "row";
      for (const { unit, values } of chart.series) cell("td", values[at] == null ? "-" : told[unit](values[at]));
      if (faulty) cell("td", faults(chart, secs, secs + step));
      return [row];
    });
    body.replaceChildren(...rows);
  };

  const drawAll = () => {
    plots.forEach((plot) => plot.destroy());
    plots = boxes.map(draw);
    show(shown);
  };

  // What the plots are made of, but for their numbers.
  const form = (data) => JSON.stringify(Object.entries(data).map(([id, { series }]) => [id, series.map(({ name, unit }) => [name, unit])]));
  const adopt = (chart, fresh) => {
    const series = chart.series.map((old, at) => Object.assign(old, fresh.series[at]));
    Object.assign(chart, fresh, { series });
  };

  // Newer data for a run that goes on; `anew` where the places of the plots are new as well. Whoever
  // looks at a part of the run keeps it.
  const renew = (fresh, anew) => {
    const all = !plots.length || (shown.min <= whole.min && shown.max >= whole.max);
    const same = !anew && plots.length > 0 && form(fresh) === form(data);
    if (same) for (const [id, chart] of Object.entries(data)) adopt(chart, fresh[id]);
    else data = fresh;
    gather();
    if (all) shown = { ...whole };
    if (!boxes.length) return;
    if (!same) return drawAll();
    moving = true;
    plots.forEach((plot, at) => plot.setData(columns(data[boxes[at].dataset.plot])));
    moving = false;
    show(shown);
  };
  window.report = { renew };

  const zoom = (factor, shift) => {
    const middle = (shown.min + shown.max) / 2 + shift * (shown.max - shown.min);
    const half = Math.min(((shown.max - shown.min) / 2) * factor, (whole.max - whole.min) / 2);
    const min = Math.min(Math.max(middle - half, whole.min), whole.max - 2 * half);
    show({ min, max: min + 2 * half });
  };
  const deeds = { in: () => zoom(0.5, 0), out: () => zoom(2, 0), left: () => zoom(1, -0.5), right: () => zoom(1, 0.5), all: () => show(whole) };

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const toggle = document.getElementById("theme");
  const paint = (theme) => {
    if (theme) root.dataset.theme = theme;
    toggle.setAttribute("aria-pressed", String(isDark()));
    if (boxes.length) drawAll();
  };

  document.addEventListener("click", ({ target }) => deeds[target.closest?.("[data-deed]")?.dataset.deed]?.());
  // A toggle does not bubble, but it is seen on its way down.
  document.addEventListener("toggle", ({ target }) => target.open && target.closest(".time") && fill(target), true);
  toggle.addEventListener("click", () => paint(isDark() ? "light" : "dark"));
  dark.addEventListener("change", () => paint());
  // Paper is white, and plots are pictures: they are drawn anew for it and back again.
  let before;
  addEventListener("beforeprint", () => ((before = isDark() ? "dark" : "light"), paint("light")));
  addEventListener("afterprint", () => paint(before));
  new ResizeObserver(() => {
    plots.forEach((plot, at) => plot.setSize({ width: boxes[at].clientWidth, height: HEIGHT }));
  }).observe(document.querySelector("main"));
  root.classList.add("scripted");
  paint();
  root.dataset.ready = "yes";
})();
