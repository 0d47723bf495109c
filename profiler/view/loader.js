// SPDX-License-Identifier: MIT
// Unpacks the page's style and script: elements with the attribute
// data-packed, each into an element of that name.  The page's policy has the
// hash of the result.

// Ascii85 (src/base/base85.h): five digits are four bytes; a last group is a
// byte shorter for each missing digit.
function fromBase85(text) {
  const bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  const digit = (i) => i >= text.length ? 84
    : { v: 27, w: 5 }[text[i]] ?? text.charCodeAt(i) - 33;
  for (let i = 0; i < text.length; i += 5) {
    let value = 0;
    for (let k = i; k < i + 5; k++)
      value = value * 85 + digit(k);
    view.setUint32(i / 5 * 4, value);
  }
  return bytes.subarray(0, Math.floor(text.length * 4 / 5));
}

async function unpack(text) {
  if (!window.DecompressionStream)
    throw new Error('it takes a browser of 2023 or later');
  const stream = new Blob([fromBase85(text)]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

// The script is removed after it ran, so that a saved page does not run it
// twice.
async function load() {
  for (const packed of document.querySelectorAll('[data-packed]')) {
    const made = document.createElement(packed.dataset.packed);
    made.textContent = await unpack(packed.textContent);
    document.head.append(made);
    if (packed.dataset.packed === 'script')
      made.remove();
  }
}

load().catch((error) => {
  document.getElementById('notice').textContent =
    'This page cannot show its profile: ' + error.message
    + '. The static summary follows.';
});
