/** Contrast of colours by WCAG 2.2, against published values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrastOf, pairsOf, requireContrast } from '../../src/branding/colours.ts';

const NONE = { color: null, textColor: null, darkColor: null, darkTextColor: null };

test('the contrast of two colours is that of WCAG, whichever comes first', () => {
  for (const [one, other, ratio] of [
    ['#000000', '#ffffff', 21],
    ['#777777', '#ffffff', 4.478],
    ['#767676', '#ffffff', 4.542],
    ['#ff0000', '#ffffff', 3.998],
    ['#0000ff', '#ffffff', 8.592],
    ['#123456', '#123456', 1],
  ] as const) {
    assert.ok(Math.abs(contrastOf(one, other) - ratio) < 0.001, `${one} ${contrastOf(one, other)}`);
    assert.equal(contrastOf(one, other), contrastOf(other, one));
  }
});

test('text that cannot be read is refused with its contrast, on the light and on the dark page', () => {
  requireContrast({ ...NONE, color: '#767676' });
  requireContrast({ ...NONE, color: '#ffcc00', textColor: '#000000' });
  for (const [colours, pattern] of [
    [{ color: '#777777' }, /`color`.* #777777 and its text #ffffff is 4\.47, .* at least 4\.5/],
    [{ color: '#ffcc00' }, /`color`.* 1\.51/],
    [{ color: '#000000', darkColor: '#eeeeee' }, /`darkColor`.* #eeeeee and its text #ffffff/],
    [{ color: '#000000', darkTextColor: '#222222' }, /`darkTextColor`.* #000000 and its text #222222/],
    [{ textColor: '#000000' }, /`textColor` needs `color`/],
    [{ darkColor: '#000000' }, /`darkColor` needs `color`/],
  ] as const)
    assert.throws(() => requireContrast({ ...NONE, ...colours }), pattern);
});

test('the dark page has the light colours unless it has its own', () => {
  const light = { color: '#1f5fbf', text: '#ffffff' };
  assert.equal(pairsOf(NONE), undefined);
  assert.deepEqual(pairsOf({ ...NONE, color: '#1f5fbf' }), { light, dark: light });
  const own = { ...NONE, color: '#1f5fbf', darkColor: '#8ab4f8', darkTextColor: '#000000' };
  assert.deepEqual(pairsOf(own), { light, dark: { color: '#8ab4f8', text: '#000000' } });
});
