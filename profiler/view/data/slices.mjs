// SPDX-License-Identifier: MIT
// Long computations, as generators that yield between steps of a few
// milliseconds: in slices that leave the page time to draw, or at one go.

const SLICE_MS = 12;

// Runs a generator, the first slice at once, then calls done with its result;
// work.return () stops it.
export function inSlices(work, done) {
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    let step;
    do
      step = work.next();
    while (!step.done && performance.now() < until);
    if (!step.done)
      setTimeout(slice);
    else if (step.value !== undefined)
      done(step.value);
  };
  slice();
  return work;
}

// Returns the result of a generator.
export function atOnce(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done)
      return value;
  }
}
