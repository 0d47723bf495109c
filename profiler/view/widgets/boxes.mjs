// SPDX-License-Identifier: MIT
// Boxes with a name and a value, of which icicles are made; a box is [x, y,
// width, height] in the picture of a pane.

const LEAST_NAMED = 30;

// A faint one is not what is searched for.
export function fillBox({ context }, [x, y, width, height], colour, isFaint) {
  context.globalAlpha = isFaint ? 0.3 : 1;
  context.fillStyle = colour;
  context.fillRect(x, y + 1, Math.max(1, width - 1), height - 1);
  context.globalAlpha = 1;
}

export function outlineBox({ context }, [x, y, width, height], colour,
                           thickness = 2) {
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.strokeRect(x + 1, y + 2, Math.max(2, width - 3), height - 3);
}

// Writes the first text, and of the others the first that there is room for.
// texts: returns them, of a box that is wide enough.
export function labelBox(pane, [x, y, width, height], colour, texts) {
  if (width < LEAST_NAMED)
    return;
  const [name, ...values] = texts();
  const { context } = pane, line = y + height / 2 + 1;
  context.fillStyle = colour;
  pane.text(name, x + 5, line, width - 10);
  const room = width - 24 - pane.textWidth(name);
  const value = values.find((text) => room > pane.textWidth(text));
  if (value === undefined)
    return;
  context.textAlign = 'right';
  context.fillText(value, x + width - 6, line);
  context.textAlign = 'left';
}
