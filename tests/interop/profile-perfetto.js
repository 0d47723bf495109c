// SPDX-License-Identifier: MIT
// Loads a trace into Perfetto's engine, the WebAssembly that its page runs in
// a worker, and runs SQL queries.
//
// usage: node profile-perfetto.js ENGINE_FOLDER TRACE QUERY...
//
// Prints one JSON array with the rows of each query, a row being an array.
// Integers are printed as strings, since they have 64 bits.
"use strict";

const fs = require("fs");
const path = require("path");

const [, , folder, trace, ...queries] = process.argv;

/*------------------------------------------------------------------------
 * Globals of a browser's worker that node lacks
 *----------------------------------------------------------------------*/

class FileRequest {
  open(method, url) {
    this.file = path.join(folder, path.basename(url));
  }

  send() {
    this.response = fs.readFileSync(this.file).buffer;
    this.status = 200;
    this.responseText = "";
    setImmediate(() => this.onload?.());
  }
}

function pretendToBeAWorker() {
  Object.assign(globalThis, {
    self: globalThis,
    WorkerGlobalScope: function () {},
    location: {href: `file://${path.resolve(folder)}/engine_bundle.js`,
               pathname: "/"},
    importScripts: () => {},
    XMLHttpRequest: FileRequest,
    fetch: async url => new Response(
      fs.readFileSync(path.join(folder, path.basename(String(url.url ?? url)))),
      {headers: {"content-type": "application/wasm"}}),
  });
  delete process.versions.node;
  console.warn = () => {};
}

/*------------------------------------------------------------------------
 * Protocol buffers, as far as the engine's protocol uses them
 *----------------------------------------------------------------------*/

function varint(value) {
  const bytes = [];
  for (let n = BigInt(value); ; n >>= 7n) {
    if (n < 128n)
      return Buffer.from([...bytes, Number(n)]);
    bytes.push(Number(n & 127n) | 128);
  }
}

const number = (field, value) =>
  Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) =>
  Buffer.concat([varint(field << 3 | 2), varint(value.length), value]);

class Reader {
  constructor(buffer) {
    this.buffer = buffer;
    this.at = 0;
  }

  get more() {
    return this.at < this.buffer.length;
  }

  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.buffer[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
  }

  take(n) {
    this.at += n;
    return this.buffer.subarray(this.at - n, this.at);
  }
}

function* fields(buffer) {
  const reader = new Reader(buffer);
  while (reader.more) {
    const key = Number(reader.varint());
    const type = key & 7;
    if (type === 0)
      yield [key >> 3, reader.varint()];
    else if (type === 1)
      yield [key >> 3, reader.take(8)];
    else if (type === 2)
      yield [key >> 3, reader.take(Number(reader.varint()))];
    else if (type === 5)
      yield [key >> 3, reader.take(4)];
    else
      throw new Error(`wire type ${type}`);
  }
}

/*------------------------------------------------------------------------
 * Results of queries
 *----------------------------------------------------------------------*/

// Parses one batch: the type of each cell, then the values by their types.
function cellsOf(batch) {
  const found = {types: [], integers: [], doubles: [], texts: []};
  let isLast = false;
  for (const [field, value] of fields(batch))
    if (field === 1)
      found.types = [...value];
    else if (field === 2)
      for (const reader = new Reader(value); reader.more;)
        found.integers.push(BigInt.asIntN(64, reader.varint()));
    else if (field === 3)
      for (let i = 0; i < value.length; i += 8)
        found.doubles.push(value.readDoubleLE(i));
    else if (field === 5)
      found.texts = value.toString().split("\0");
    else if (field === 6)
      isLast = value !== 0n;
  const cells = found.types.map(type => type === 1 ? null
    : type === 2 ? String(found.integers.shift())
    : type === 3 ? found.doubles.shift()
    : type === 4 ? found.texts.shift() : undefined);
  return {cells, isLast};
}

class Engine {
  constructor() {
    const {port1, port2} = new MessageChannel();
    this.port = port1;
    this.sequence = 0;
    port1.onmessage = event => {
      for (const [, message] of fields(Buffer.from(event.data)))
        this.answered([...fields(message)]);
    };
    globalThis.onmessage({data: port2});
  }

  // Sends a request; done checks each response and returns whether it was
  // the last.
  request(method, body, done) {
    return new Promise((resolve, reject) => {
      this.answered = answer => {
        const fatal = answer.find(([field]) => field === 5);
        try {
          if (fatal)
            throw new Error(fatal[1].toString());
          if (done(answer))
            resolve();
        } catch (error) {
          reject(error);
        }
      };
      const message = Buffer.concat(
        [number(1, this.sequence++), number(2, method), body]);
      this.port.postMessage(new Uint8Array(bytes(1, message)));
    });
  }

  async load(data) {
    await this.request(1, bytes(101, data), () => true);
    await this.request(2, Buffer.alloc(0), () => true);
  }

  async query(sql) {
    const names = [];
    const cells = [];
    await this.request(3, bytes(103, bytes(1, Buffer.from(sql))), answer => {
      let isLast = false;
      for (const [, result] of answer.filter(([field]) => field === 203))
        for (const [field, value] of fields(result))
          if (field === 1)
            names.push(value.toString());
          else if (field === 2 && value.length > 0)
            throw new Error(`${sql}: ${value}`);
          else if (field === 3) {
            const batch = cellsOf(value);
            cells.push(...batch.cells);
            isLast = batch.isLast;
          }
      return isLast;
    });
    const rows = [];
    for (let i = 0; i < cells.length; i += names.length)
      rows.push(cells.slice(i, i + names.length));
    return rows;
  }
}

async function main() {
  pretendToBeAWorker();
  // The bundle is a script for a worker, not a module.
  (0, eval)(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"));
  const engine = new Engine();
  await engine.load(fs.readFileSync(trace));
  const results = [];
  for (const sql of queries)
    results.push(await engine.query(sql));
  // The worker would otherwise wait for requests forever.
  process.stdout.write(JSON.stringify(results), () => process.exit(0));
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
