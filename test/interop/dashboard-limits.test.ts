/**
 * A tenant that has as much of everything as it may have, with names of 200 and subjects of 998 characters without a space: every page answers,
 * stays within 100 kB, is valid, and no wider than the screen.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFull } from '../support/dashboard/full.ts';
import { findMarkupFaults } from '../support/dashboard/markup.ts';
import { isTooWide, openPages } from './dashboard/pages.ts';

/** Number of times that each page is asked for, of which the middle one counts. */
const ROUNDS = 3;

/** Widths of screens; with POSTRIDER_FULL the wide one too, on which little is too wide. */
const WIDTHS = process.env['POSTRIDER_FULL'] === undefined ? [360] : [360, 1280];

const { world, walk } = await openPages();
const visits = await openFull(world);

test('every page answers, is valid and at most 100 kB', async (context) => {
  const faults: string[] = [];
  const times: { path: string; ms: number }[] = [];
  for (const { browser, paths } of visits) {
    for (const path of paths) {
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const began = performance.now();
        const answer = await browser.send(path, { method: 'GET' });
        rounds.push(performance.now() - began);
        if (round === 0) faults.push(...(await findMarkupFaults(path, answer)));
      }
      times.push({ path, ms: rounds.sort((a, b) => a - b)[1] ?? 0 });
    }
  }
  times.sort((one, other) => other.ms - one.ms);
  for (const { path, ms } of times.slice(0, 10)) context.diagnostic(`${ms.toFixed(1)} ms ${path}`);
  assert.deepEqual(faults, []);
});

for (const width of WIDTHS) {
  test(`no page is wider than a screen of ${width} px`, async () => {
    const found: string[] = [];
    const faults = await walk(
      visits,
      { viewport: { width, height: 800 } },
      async ({ page, takeScreenshot }, path) => {
        if (await isTooWide(page)) found.push(path);
        await takeScreenshot(`full-${width}${path.replace(/_\w{26}/g, '')}`);
      },
    );
    assert.deepEqual([found, faults], [[], []]);
  });
}
