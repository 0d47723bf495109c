// SPDX-License-Identifier: MIT
// Unpacks the page's style and script: what elements of the attribute
// data-packed hold, each into an element of the name that it says.  The
// policy of the page knows the hash of what comes out.

async function unpack(text) {
  if (typeof DecompressionStream === 'undefined')
    throw new Error('this browser cannot inflate its script; browsers of '
      + '2023 and later can');
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

async function load() {
  for (const packed of document.querySelectorAll('[data-packed]')) {
    const made = document.createElement(packed.dataset.packed);
    made.textContent = await unpack(packed.textContent);
    document.head.append(made);
  }
}

load().catch((error) => {
  const tell = () => {
    document.getElementById('notice').textContent =
      'This page cannot show its profile: ' + error.message
      + '. What follows was written with it, and needs no script.';
  };
  if (document.readyState === 'loading')
    document.addEventListener('DOMContentLoaded', tell);
  else
    tell();
});
