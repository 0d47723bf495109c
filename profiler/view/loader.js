// SPDX-License-Identifier: MIT
// Unpacks the page's style and script: elements with the attribute
// data-packed, each into an element of that name.  The page's policy has the
// hash of the result.

// Base 92 (src/base/base92.h): two digits are 13 bits, one at the end is 6.
function fromBase92(text) {
  const bytes = [];
  const digit = (i) => ({ '}': 5, '~': 27 })[text[i]]
    ?? text.charCodeAt(i) - 33;
  let held = 0, nheld = 0;
  for (let i = 0; i < text.length; i += 2) {
    const isPair = i + 1 < text.length;
    held |= (isPair ? digit(i) * 92 + digit(i + 1) : digit(i)) << nheld;
    for (nheld += isPair ? 13 : 6; nheld > 7; nheld -= 8, held >>= 8)
      bytes.push(held & 255);
  }
  return new Uint8Array(bytes);
}

async function unpack(text) {
  if (!window.DecompressionStream)
    throw 'it takes a browser of 2023 or later';
  const stream = new Blob([fromBase92(text)]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

// The script is removed after it ran, so that a saved page does not run it
// twice.  The page's policy lets no damaged one run.
async function load() {
  for (const packed of document.querySelectorAll('[data-packed]')) {
    const made = document.createElement(packed.dataset.packed);
    made.textContent = await unpack(packed.textContent);
    document.head.append(made);
    if (packed.dataset.packed === 'script')
      made.remove();
  }
  if (!window.radioRuns)
    throw 0;
}

// What else is thrown are errors of the language, about a damaged script.
load().catch((reason) => {
  document.getElementById('notice').textContent =
    'This page cannot show its profile: '
    + (reason.charAt ? reason : 'its script is damaged')
    + '. The static summary follows.';
});
