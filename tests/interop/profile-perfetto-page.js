// SPDX-License-Identifier: MIT
// Opens a trace in Perfetto's page, served from this machine, in a browser.
//
// usage: node profile-perfetto-page.js CHROMIUM WEB_DIST TRACE TEXT...
//
// Waits until the page shows every TEXT (names of threads), and prints one
// JSON object: {title, errors}.
"use strict";

const fs = require("fs");
const http = require("http");
const path = require("path");
const {withBrowser} = require("./browser.js");

const [, , chromium, dist, trace, ...texts] = process.argv;

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript",
  ".json": "application/json", ".wasm": "application/wasm",
};

function serve(request, response) {
  const name = decodeURIComponent(new URL(request.url, "http://x").pathname);
  const file = name === "/trace.json" ? trace
    : path.join(dist, path.normalize(name === "/" ? "/index.html" : name));
  fs.readFile(file, (error, data) => {
    response.writeHead(error ? 404 : 200, {
      "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
    });
    response.end(data);
  });
}

async function main() {
  const server = http.createServer(serve);
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  try {
    const result = await withBrowser(chromium, async browser => {
      const page = await browser.open(
        `${origin}/#!/?url=${encodeURIComponent(`${origin}/trace.json`)}`);
      const shown = `(document.body?.textContent ?? "")`;
      for (const text of texts)
        await page.until(`${shown}.includes(${JSON.stringify(text)})`,
                         `'${text}' to be shown`);
      return {title: await page.evaluate("document.title"),
              errors: page.errors()};
    });
    process.stdout.write(JSON.stringify(result));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
