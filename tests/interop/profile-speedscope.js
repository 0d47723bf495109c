// SPDX-License-Identifier: MIT
// Imports profiles into the real speedscope application, and prints what it
// shows.
//
// usage: node profile-speedscope.js CHROMIUM RELEASE FILE...
//
// Prints one JSON array with an object for each file:
//   saved       the application's own export of the profile: exact
//   lanes       its list of profiles: rows of number, name and total weight
//   sandwiches  its table "Sandwich" of each profile, from the active one on:
//               rows of total, self and name as it shows them
//   errors      its uncaught errors
"use strict";

const fs = require("fs");
const os = require("os");
const path = require("path");
const {withBrowser} = require("./browser.js");

const [, , chromium, release, ...files] = process.argv;

// Returns the rows of the table whose first cells match; null if none do.
const rows = pattern => `(() => {
  const cells = row => [...row.querySelectorAll("td")]
    .map(cell => cell.textContent);
  const rows = [...document.querySelectorAll("tr")].map(cells)
    .filter(row => row.length === 3 && ${pattern}.test(row[0]));
  return rows.length > 0 ? rows : null;
})()`;
const LANES = rows("/^\\d+$/");          // number, name, total weight
const SANDWICH = rows("/%\\)$/");        // total, self, name

const CAPTURE = `
  window.saved = null;
  URL.createObjectURL = blob => {
    blob.text().then(text => { window.saved = text; });
    return "about:blank#";
  };
  HTMLAnchorElement.prototype.click = () => {};
  true`;

// Imports by the application's own function.  Its callbacks are inaccessible,
// so waits until its export contains the file.
async function load(page, file) {
  const data = fs.readFileSync(file).toString("base64");
  await page.until("window.speedscope !== undefined", "speedscope");
  await page.evaluate(CAPTURE);
  await page.evaluate(`speedscope.loadFileFromBase64(
    ${JSON.stringify(path.basename(file))}, "${data}"); true`);
  await page.until(`(() => {
    if (/Something went wrong|Unrecognized format/i.test(
          document.body.innerText))
      throw new Error(document.body.innerText);
    return document.querySelector("canvas") !== null;
  })()`, `the flame chart of ${file}`);
}

async function save(page) {
  await page.press("s", {ctrlKey: true});
  return JSON.parse(await page.until("window.saved", "the export"));
}

// Shows each profile in turn ("n"), from the active one on, in the view
// "Sandwich" ("3"): rows of total, self and name.  A profile without times
// has none.
async function sandwiches(page, profiles, active) {
  const shown = [];
  const n = profiles.length;
  await page.press("3");
  for (let i = active; i < n; i++) {
    if (i > active)
      await page.press("n");
    if (n > 1)
      await page.until(
        `document.body.textContent.includes("(${i + 1}/${n})")`);
    const isEmpty = !(profiles[i].events ?? profiles[i].samples).length;
    shown.push(isEmpty ? [] : await page.until(SANDWICH, "the table"));
  }
  return shown;
}

async function look(browser, script, file) {
  const page = await browser.open(
    `file://${release}/index.html#localProfilePath=${script}`);
  await load(page, file);
  const saved = await save(page);
  const active = saved.activeProfileIndex ?? 0;
  const result = {
    file: path.basename(file),
    saved,
    lanes: await page.evaluate(LANES),
    sandwiches: await sandwiches(page, saved.profiles, active),
    errors: page.errors(),
  };
  await page.close();
  return result;
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "radio-speedscope-"));
  try {
    // speedscope exposes its import to scripts named in its address.
    const script = path.join(folder, "empty.js");
    fs.writeFileSync(script, "");
    const results = await withBrowser(chromium, async browser => {
      const all = [];
      for (const file of files)
        all.push(await look(browser, script, file));
      return all;
    });
    process.stdout.write(JSON.stringify(results));
  } finally {
    fs.rmSync(folder, {recursive: true, force: true});
  }
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
