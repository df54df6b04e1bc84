// Opens a page in a headless Chromium, as crates/cli/tests/it/browser.rs, live.rs and
// scripts/images ask for. It judges nothing: all but `shot` print what was seen as
// JSON. A page is a file, or the URL of one that is served.
//
//   node browser.mjs look CHROMIUM PAGE
//   node browser.mjs glance CHROMIUM PAGE
//   node browser.mjs walk CHROMIUM PAGE
//   node browser.mjs live CHROMIUM URL
//   node browser.mjs shot CHROMIUM PAGE light|dark WIDTH HEIGHT PNG [SECONDS]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [deed, program, file, ...rest] = process.argv.slice(2);
const served = file.startsWith("http://");
const url = served ? file : pathToFileURL(file).href;
// A page that is served may ask who serves it, and nobody else.
const mayAsk = (asked) => asked === url || (served && asked === new URL("events", url).href);
// The sandbox of Chromium does not start for root, as in a container; the page is ours.
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
// Nothing here takes long but on a machine that is busy; whoever asked has a limit of his own.
const PATIENCE = 240_000;
const browser = await chromium.launch({ executablePath: program, args, timeout: PATIENCE });

async function open(options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE);
  const errors = [];
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => (errors.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => !mayAsk(request.url()) && errors.push(`request: ${request.url()}`));
  await page.goto(url);
  return { page, errors };
}

/** The pixels of each plot that are not empty, those with the tint of the first fault, and a print of all of them. */
const plots = (page) =>
  page.evaluate(() => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--c5").trim();
    const tint = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return [...document.querySelectorAll(".plot canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let [filled, tinted, print] = [0, 0, 0];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3]) filled += 1;
        const is = (value, wanted) => Math.abs(value - wanted) < 14;
        if (is(data[at + 3], 36) && tint.every((wanted, part) => is(data[at + part], wanted))) tinted += 1;
        print = (Math.imul(print, 31) + data[at] + data[at + 1] * 7 + data[at + 2] * 13 + data[at + 3]) | 0;
      }
      return { filled, tinted, print };
    });
  });

const shown = (page) =>
  page.evaluate(() => [Number(document.documentElement.dataset.from), Number(document.documentElement.dataset.to)]);

async function brush(page) {
  const over = page.locator(".u-over").first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
  await page.mouse.move(...at(0.3));
  await page.mouse.down();
  await page.mouse.move(...at(0.5), { steps: 5 });
  await page.mouse.move(...at(0.7), { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(100);
}

/** What a page is made of, and whether a script that is not ours has run. */
const parts = (page) =>
  page.evaluate(() => ({
    hit: window.hit ?? null,
    images: document.images.length,
    scripts: document.scripts.length,
    pictures: document.querySelectorAll("svg").length,
    // Of each class, how many shapes there are; those of a picture that is not shown count as well.
    shapes: Object.fromEntries(
      ["band", "line", "bar", "fault"].map((name) => [name, document.querySelectorAll(`svg .${name}`).length]),
    ),
    tables: Object.fromEntries(
      [...document.querySelectorAll("table:has(caption)")].map((table) => [table.caption.textContent, table.tBodies[0].rows.length]),
    ),
    links: [...document.querySelectorAll("main a[href]")].map((link) => link.getAttribute("href")),
    text: document.body.innerText,
    unnamed: [...document.querySelectorAll("[role=img], section, button, .scroll")].filter(
      (part) => !part.getAttribute("aria-label") && !part.getAttribute("aria-labelledby") && !part.textContent.trim(),
    ).length,
  }));

/** A page without plots over time. */
async function glance() {
  const { page, errors } = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  await page.click("#theme");
  return { page: await parts(page), errors, still: await still() };
}

async function look() {
  const { page, errors } = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  const seen = { whole: await shown(page), plots: await plots(page) };
  await brush(page);
  seen.brushed = { shown: await shown(page), plots: await plots(page) };
  await page.focus("[data-deed=all]");
  await page.keyboard.press("Enter");
  seen.again = await shown(page);
  seen.rows = await page.evaluate(async () => {
    const details = document.querySelector(".time details");
    details.open = true;
    await new Promise((done) => setTimeout(done, 100));
    return details.querySelectorAll("tbody tr").length;
  });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  seen.grounds = [await ground()];
  await page.click("#theme");
  seen.grounds.push(await ground());
  seen.page = await parts(page);
  await page.setViewportSize({ width: 390, height: 800 });
  // A page that stays too wide is told of by its width.
  const fits = page.waitForFunction(() => document.documentElement.scrollWidth <= 390, null, { timeout: 60_000 });
  await fits.catch(() => {});
  seen.narrow = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.emulateMedia({ media: "print" });
  seen.pdf = (await page.pdf()).length;
  seen.errors = errors;
  seen.still = await still();
  return seen;
}

/** What is left without a script. */
async function still() {
  const { page, errors } = await open({ javaScriptEnabled: false });
  const pictures = await page.locator(".plot svg, .still svg").filter({ visible: true }).count();
  const buttons = await page.locator("button").filter({ visible: true }).count();
  // Chromium says nothing of a script that it was told not to run.
  return { pictures, buttons, errors };
}

/** What the keyboard reaches, in its order, and what the rules of WCAG say against the page. */
async function walk() {
  const { page, errors } = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  const reach = () => {
    const stop = document.activeElement;
    if (!stop || stop === document.body || stop.dataset.walked) return null;
    stop.dataset.walked = "yes";
    const name = stop.getAttribute("aria-label") ?? stop.textContent;
    return { tag: stop.tagName, name: name.trim(), ring: getComputedStyle(stop).outlineStyle !== "none" };
  };
  const stops = [];
  do {
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate(reach));
  } while (stops.at(-1) && stops.length < 500);
  stops.pop();
  const missed = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], button, summary, [tabindex='0']")]
      .filter((part) => part.checkVisibility() && !part.dataset.walked)
      .map((part) => part.outerHTML.slice(0, 200)),
  );
  const rules = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const against = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    await page.evaluate(rules);
    const { violations } = await page.evaluate(() => axe.run(document));
    for (const { id, help, nodes } of violations) {
      for (const { target, failureSummary } of nodes) against.push(`${colorScheme} ${id} (${help}): ${target} ${failureSummary}`);
    }
  }
  return { stops, missed, against, errors, still: await still() };
}

/**
 * A page of a run that goes on: how it grows and what a zoom does to it, on a line of its own, by which whoever asked
 * knows that the run may end; then how it ends.
 */
async function live() {
  const { page, errors } = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const text = (name) => page.locator(name).first().textContent();
  await page.waitForFunction(() => document.querySelectorAll(".plot canvas").length >= 5);
  const seen = { word: await text(".verdict"), early: { shown: await shown(page), plots: await plots(page) } };
  const updates = () => page.evaluate(() => Number(document.documentElement.dataset.updates ?? 0));
  const more = async (count) => {
    const before = await updates();
    await page.waitForFunction((at) => Number(document.documentElement.dataset.updates ?? 0) >= at, before + count);
  };
  await more(1);
  seen.later = { shown: await shown(page), plots: await plots(page) };
  await brush(page);
  seen.brushed = await shown(page);
  await more(1);
  seen.kept = await shown(page);
  console.log(JSON.stringify(seen));
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes" && document.getElementById("validity"));
  return { word: await text(".verdict"), text: await page.evaluate(() => document.body.innerText), errors };
}

async function shot([colorScheme, width, height, png, seconds]) {
  const viewport = { width: Number(width), height: Number(height) };
  const { page } = await open({ viewport, colorScheme });
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  if (seconds) await page.waitForTimeout(Number(seconds) * 1000);
  await page.screenshot({ path: png });
}

try {
  const deeds = { look, glance, walk, live };
  if (deeds[deed]) console.log(JSON.stringify(await deeds[deed]()));
  else await shot(rest);
} finally {
  await browser.close();
}
