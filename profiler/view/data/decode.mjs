// SPDX-License-Identifier: MIT
// Decodes the packed blocks of docs/profile-format.md: base64 of a raw deflate
// stream of columns of varints.

// Errors complete a sentence whose subject is the data: "its spans ...".

// What is wrong with the data: errors of the language itself, which damaged
// ones cause as well, are not fit for readers.
export function reasonOf(error) {
  return error.constructor === Error ? error.message : 'its data are damaged';
}

function fromBase64(text) {
  try {
    return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
      : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error('are damaged: not base64');
  }
}

// Reads the next bytes of a stream.  Browsers' messages for a broken one are
// not fit for readers.
async function readPart(reader) {
  try {
    return await reader.read();
  } catch {
    throw new Error('are damaged or truncated');
  }
}

// Inflates at most the declared length.
async function inflate(bytes, nbytes) {
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = stream.getReader();
  const inflated = new Uint8Array(nbytes);
  let at = 0;
  for (;;) {
    const { done, value } = await readPart(reader);
    if (done)
      break;
    if (at + value.length > nbytes)
      throw new Error('are longer than they claim');
    inflated.set(value, at);
    at += value.length;
  }
  return inflated.subarray(0, at);
}

// Returns the bytes of a block's columns.
async function unpack(block) {
  const bytes = fromBase64(block.data);
  // Deflate compresses by at most 1032 : 1, so larger claims are refused.
  if (!(block.nbytes >= 0 && block.nbytes <= bytes.length * 1032))
    throw new Error('claim ' + block.nbytes + ' bytes');
  const columns = block.encoding === 'none' ? bytes
    : await inflate(bytes, block.nbytes);
  if (columns.length !== block.nbytes)
    throw new Error('are truncated');
  return columns;
}

// Rounds numbers above 2^53, which no time of a profile reaches.
function readColumn(bytes, from, count) {
  const column = new Float64Array(count);
  let at = from;
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    column[i] = value;
  }
  if (at > bytes.length)
    throw new Error('are damaged');
  return [column, at];
}

async function readBlock(block, ncolumns) {
  const empty = !block || block.count === 0;
  const bytes = empty ? new Uint8Array(0) : await unpack(block);
  const count = empty ? 0 : block.count;
  if (!(count >= 0 && count * ncolumns <= bytes.length))
    throw new Error('claim to be ' + count);
  const columns = [];
  let at = 0;
  for (let i = 0; i < ncolumns; i++) {
    let column;
    [column, at] = readColumn(bytes, at, count);
    columns.push(column);
  }
  if (at !== bytes.length)
    throw new Error('are damaged: something follows them');
  return columns;
}

// Returns the columns of a block, each an array of block.count numbers; what
// names its rows in errors.
export async function readColumns(block, ncolumns, what = 'spans') {
  try {
    return await readBlock(block, ncolumns);
  } catch (error) {
    throw new Error('its ' + what + ' ' + error.message);
  }
}

// Maps 0, 1, 2, 3, ... to 0, -1, 1, -2, ...
export function zigzag(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
