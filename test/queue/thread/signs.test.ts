import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SIGNS, signsTogether } from '../../../src/queue/thread/signs.ts';

const FAILS = { deliversNothing: true, failsDns: false, hasDelivered: false };
const WORKS = { ...NO_SIGNS, hasDelivered: true };

test('nothing is delivered when one thread fails and no other one has delivered lately', () => {
  assert.equal(signsTogether([FAILS]).deliversNothing, true);
  assert.equal(signsTogether([FAILS, NO_SIGNS]).deliversNothing, true, 'the other one has nothing to do');
  assert.equal(signsTogether([FAILS, WORKS]).deliversNothing, false);
  assert.equal(signsTogether([WORKS, NO_SIGNS]).deliversNothing, false);
});

test('DNS fails when it fails in one thread, since all have the same resolvers', () => {
  assert.equal(signsTogether([WORKS, { ...NO_SIGNS, failsDns: true }]).failsDns, true);
  assert.equal(signsTogether([WORKS, NO_SIGNS]).failsDns, false);
});
