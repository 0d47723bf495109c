// SPDX-License-Identifier: MIT
// Pictures: the canvas drawings of a view, as SVG.
import test from 'node:test';
import assert from 'node:assert/strict';
import { SvgContext, escapeXml,
         fontAttributes } from '../../../profiler/view/widgets/svg-context.mjs';
import { fileName } from '../../../profiler/view/widgets/picture.mjs';

function context() {
  return new SvgContext({ measureText: (text) =>
    ({ width: 7 * text.length }) }, '12px sans-serif');
}

test('rectangles have their place, colour and alpha', () => {
  const made = context();
  made.fillStyle = '#123456';
  made.globalAlpha = 0.25;
  made.fillRect(1.234, 2, 3, 4);
  made.fillRect(0, 0, 0, 5);
  assert.equal(made.text(), '<rect x="1.23" y="2" width="3" height="4" '
    + 'fill="#123456" opacity="0.25"/>');
});

test('saved state is restored, and clips end there', () => {
  const made = context();
  made.fillStyle = '#111111';
  made.save();
  made.beginPath();
  made.rect(0, 0, 9, 9);
  made.clip();
  made.fillStyle = '#222222';
  made.fillRect(0, 0, 1, 1);
  made.restore();
  made.fillRect(2, 2, 1, 1);
  const text = made.text();
  assert.match(text, /<path d="M0 0h9v9h-9Z"\/><\/clipPath><g clip-path/);
  assert.ok(text.indexOf('</g>') < text.indexOf('#111111'));
  assert.equal(text.match(/<g/g).length, text.match(/<\/g>/g).length);
  assert.equal(made.fillStyle, '#111111');
});

test('clips that are not restored are closed at the end', () => {
  const made = context();
  for (let i = 0; i < 3; i++) {
    made.beginPath();
    made.rect(0, 0, 1, 1);
    made.clip();
  }
  const text = made.text();
  assert.equal(text.match(/<g/g).length, 3);
  assert.equal(text.match(/<\/g>/g).length, 3);
});

test('paths are as they were drawn', () => {
  const made = context();
  made.beginPath();
  made.moveTo(1, 2);
  made.lineTo(3, 4);
  made.bezierCurveTo(1, 2, 3, 4, 5, 6);
  made.stroke();
  made.beginPath();
  made.arc(10, 10, 3, 0, 2 * Math.PI);
  made.fill();
  assert.match(made.text(), /d="M1 2L3 4C1 2 3 4 5 6" fill="none"/);
  assert.match(made.text(), /d="M7 10a3 3 0 1 0 6 0a3 3 0 1 0 -6 0"/);
});

test('text is escaped, without characters that XML forbids', () => {
  const made = context();
  made.textAlign = 'right';
  made.fillText('<a & "b">\u0001\ud800\u{1f9e0}', 5, 6);
  assert.match(made.text(), /text-anchor="end"/);
  assert.match(made.text(),
    />&#60;a &#38; &#34;b&#34;&#62;\ufffd\ufffd\u{1f9e0}<\/text>/u);
  assert.equal(escapeXml('a\tb\ncd'), 'a\tb\ncd');
  assert.equal(made.measureText('abc').width, 21);
});

test('a font becomes attributes', () => {
  assert.equal(fontAttributes('12px system-ui, sans-serif'),
    'font-weight="400" font-size="12" font-family="system-ui, sans-serif"');
  assert.equal(fontAttributes('600 14.5px x'),
    'font-weight="600" font-size="14.5" font-family="x"');
});

test('file names are valid on every file system', () => {
  assert.equal(fileName('radio slice ct/sub-01', 'tree', '.svg'),
               'radio-slice-ct-sub-01-tree.svg');
  assert.equal(fileName('../\u05e9', 'x', '.png'), 'x.png');
  assert.ok(fileName('y'.repeat(999), 'tree', '.png').length < 90);
});
