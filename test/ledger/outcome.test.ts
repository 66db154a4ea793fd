/** Which outcomes of copies give the run of their broadcast something to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counts, concernsRun, MAX_UNTRIED } from '../../src/ledger/outcome.ts';

const ATTEMPTED = { untried: -1, sent: 1 };
const BOUNCED = { queued: -1, bounced: 1, bouncedPermanently: 1 };
const COMPLAINED = { complained: 1 };

test('a run has something to do after the last copy, for a copy that fits again, and when its rates get worse', () => {
  for (const [what, changes, waiting, untried, expected] of [
    ['the last copy was attempted', ATTEMPTED, 0, 0, true],
    ['other copies wait', ATTEMPTED, 0, 1, false],
    ['all copies were attempted before', { delivered: 1, queued: -1 }, 0, 0, false],
    ['the queue has room again', ATTEMPTED, 5, MAX_UNTRIED - 1, true],
    ['the queue had room already', ATTEMPTED, 5, MAX_UNTRIED - 2, false],
    ['the queue is still full', ATTEMPTED, 5, MAX_UNTRIED, false],
    ['a copy bounced while others wait', BOUNCED, 0, 1, true],
    ['a reader complained while contacts wait', COMPLAINED, 1, 0, true],
    ['a reader complained after the end', COMPLAINED, 0, 0, false],
    ['a reader opened a copy', { opened: 1 }, 1, 1, false],
  ] as const)
    assert.equal(concernsRun(changes, { waiting, untried } as Counts), expected, what);
});
