// SPDX-License-Identifier: MIT
// Drives a headless Chromium by its DevTools protocol over two pipes: no
// driver program, no port, no package.  All waits are for a condition of the
// page, not for a fixed time.
"use strict";

const childProcess = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-dev-shm-usage", "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader", "--allow-file-access-from-files",
  "--window-size=1200,900", "--remote-debugging-pipe",
];
const PATIENCE_MS = 240000;

class Browser {
  constructor(program) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "radio-browser-"));
    this.process = childProcess.spawn(
      program, [...FLAGS, `--user-data-dir=${this.profile}`, "about:blank"],
      {stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], detached: true});
    this.waiting = new Map();
    this.events = [];
    this.next = 1;
    this.said = "";
    this.partial = Buffer.alloc(0);
    this.process.stderr.on("data", text => { this.said += text; });
    this.process.stdio[4].on("data", bytes => this.receive(bytes));
    this.process.on("exit", () => this.fail("the browser ended"));
    this.process.on("error", error => this.fail(String(error)));
  }

  fail(why) {
    for (const {reject} of this.waiting.values())
      reject(new Error(`${why}: ${this.said.slice(-2000)}`));
    this.waiting.clear();
  }

  receive(bytes) {
    this.partial = Buffer.concat([this.partial, bytes]);
    for (let end; (end = this.partial.indexOf(0)) >= 0;) {
      const message = JSON.parse(this.partial.subarray(0, end).toString());
      this.partial = this.partial.subarray(end + 1);
      const waiter = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (waiter && message.error)
        waiter.reject(new Error(JSON.stringify(message.error)));
      else if (waiter)
        waiter.resolve(message.result);
      else
        this.events.push(message);
    }
  }

  send(method, params, sessionId) {
    const id = this.next++;
    const text = JSON.stringify({id, method, params, sessionId});
    this.process.stdio[3].write(text + "\0");
    return new Promise((resolve, reject) =>
      this.waiting.set(id, {resolve, reject}));
  }

  async open(url) {
    const {targetId} = await this.send("Target.createTarget", {url});
    const {sessionId} = await this.send("Target.attachToTarget",
                                        {targetId, flatten: true});
    await this.send("Runtime.enable", {}, sessionId);
    return new Page(this, targetId, sessionId);
  }

  async close() {
    try {
      process.kill(-this.process.pid, "SIGKILL");
    } catch {
      // The process has ended already.
    }
    await new Promise(resolve => this.process.exitCode !== null ||
      this.process.signalCode !== null ? resolve()
      : this.process.once("exit", resolve));
    fs.rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

class Page {
  constructor(browser, targetId, sessionId) {
    Object.assign(this, {browser, targetId, sessionId});
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  // Returns the value of an expression; promises are awaited.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send(
      "Runtime.evaluate",
      {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ??
                      exceptionDetails.text);
    return result.value;
  }

  // Waits until an expression is truthy; returns its value.
  async until(expression, what) {
    for (const begin = Date.now(); ;) {
      let value;
      try {
        value = await this.evaluate(expression);
      } catch (error) {
        // A page discards its context while it loads.
        if (!/context|Cannot find/.test(String(error)))
          throw error;
      }
      if (value)
        return value;
      if (Date.now() - begin > PATIENCE_MS)
        throw new Error(`waited in vain for ${what ?? expression}; page: ` +
          await this.evaluate("document.body?.innerText?.slice(0, 2000)"));
      await new Promise(resolve => setTimeout(resolve, 30));
    }
  }

  // Sends a key press in the form that the pages' listeners expect.
  press(key, options) {
    const init = JSON.stringify({key, bubbles: true, cancelable: true,
                                 ...options});
    return this.evaluate(
      `for (const type of ["keydown", "keypress", "keyup"])
         window.dispatchEvent(new KeyboardEvent(type, ${init}));`);
  }

  // Returns the page's uncaught errors.
  errors() {
    return this.browser.events
      .filter(e => e.sessionId === this.sessionId &&
                   e.method === "Runtime.exceptionThrown")
      .map(e => e.params.exceptionDetails)
      .map(d => d.exception?.description ?? d.text);
  }

  close() {
    return this.browser.send("Target.closeTarget",
                             {targetId: this.targetId});
  }
}

// Runs work with a browser, and closes it afterwards in every case.
async function withBrowser(program, work) {
  const browser = new Browser(program);
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

module.exports = {withBrowser};
