import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterLook,
  hasPlaceForEd25519,
  type Key,
  MIN_RETIRED_MS,
  MIN_UNUSED_MS,
  type NewKey,
  nextKeyOf,
  nextLookAt,
  unusedKey,
  usesEd25519,
  withEd25519,
  withNextKey,
  withoutEd25519,
  withoutFuture,
} from '../../../src/domains/keys/states.ts';
import { DAY_MS } from '../../../src/system/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = 1_000 * DAY_MS;

const made = (selector: string, algorithm: Key['algorithm'] = 'rsa'): NewKey => ({
  ...{ selector, algorithm, publicKey: `public ${selector}`, privateKeySealed: `sealed ${selector}` },
});
const signing = (selector: string, algorithm: Key['algorithm'] = 'rsa'): Key => ({
  ...made(selector, algorithm),
  ...{ state: 'signing', since: 0 },
});
const inShort = (keys: readonly Key[]) =>
  keys.map(({ selector, algorithm, state }) => `${selector} ${algorithm} ${state}`).toSorted();
const seenOf = (keys: readonly Key[]) => keys.filter(({ state }) => state === 'waiting');

test('two selectors take turns, and each rests until no cache has its earlier key', () => {
  const at = (now: number) => ({ now, isDeleted: false });
  let keys: readonly Key[] = [signing('one'), unusedKey('two', 'rsa')];
  keys = withNextKey(keys, made('new'), NOW);
  assert.deepEqual(inShort(keys), ['one rsa signing', 'two rsa waiting']);
  assert.equal(withNextKey(keys, made('other'), NOW), keys, 'a key that waits stays');
  keys = afterLook(keys, { seen: seenOf(keys), unneeded: [] }, at(NOW + 1));
  assert.deepEqual(inShort(keys), ['one rsa retired', 'two rsa signing']);
  assert.equal(keys.find(({ selector }) => selector === 'one')?.privateKeySealed, null);

  const next = nextKeyOf(keys, 'rsa', NOW + 1);
  assert.deepEqual(next, { kind: 'busy', notBefore: NOW + 1 + MIN_RETIRED_MS + MIN_UNUSED_MS });
  assert.equal(nextKeyOf(keys, 'rsa', NOW + 400 * DAY_MS).kind, 'busy', 'mail still needs it');
  const removedAt = NOW + 1 + MIN_RETIRED_MS;
  keys = afterLook(keys, { seen: [], unneeded: ['one'] }, at(removedAt));
  assert.deepEqual(inShort(keys), ['one rsa unused', 'two rsa signing']);
  assert.equal(nextKeyOf(keys, 'rsa', removedAt + MIN_UNUSED_MS - 1).kind, 'busy');
  assert.deepEqual(nextKeyOf(keys, 'rsa', removedAt + MIN_UNUSED_MS), { kind: 'free', selector: 'one' });
});

test('a domain without a spare selector takes that of the new key', () => {
  assert.deepEqual(inShort(withNextKey([signing('one')], made('two'), NOW)), [
    'one rsa signing',
    'two rsa waiting',
  ]);
});

test('nothing signs that was not seen: another key at the selector, and a key that does not wait, are passed by', () => {
  const keys = withNextKey([signing('one'), unusedKey('two', 'rsa')], made('new'), NOW);
  const seen = [
    { selector: 'two', publicKey: 'public of another rotation' },
    { selector: 'one', publicKey: 'public one' },
  ];
  const after = afterLook(keys, { seen, unneeded: ['two'] }, { now: NOW, isDeleted: false });
  assert.deepEqual(inShort(after), inShort(keys));
});

test('Ed25519 begins with a key that waits, rotates by itself, and ends with a key that stays published', () => {
  const look = { now: NOW, isDeleted: false };
  const begin = { made: made('e1', 'ed25519'), spareSelector: 'e2', now: NOW };
  let keys = withEd25519([signing('one')], begin);
  assert.deepEqual(inShort(keys), ['e1 ed25519 waiting', 'e2 ed25519 unused', 'one rsa signing']);
  assert.equal(withEd25519(keys, begin), keys);
  assert.equal(nextKeyOf(keys, 'ed25519', NOW).kind, 'waiting');
  keys = afterLook(keys, { seen: seenOf(keys), unneeded: [] }, look);
  assert.deepEqual(inShort(keys), ['e1 ed25519 signing', 'e2 ed25519 unused', 'one rsa signing']);
  keys = withNextKey(keys, made('new', 'ed25519'), NOW);
  keys = afterLook(keys, { seen: seenOf(keys), unneeded: [] }, look);
  assert.deepEqual(inShort(keys), ['e1 ed25519 retired', 'e2 ed25519 signing', 'one rsa signing']);
  keys = withoutEd25519(keys, NOW);
  assert.deepEqual(inShort(keys), ['e1 ed25519 retired', 'e2 ed25519 retired', 'one rsa signing']);
  assert.deepEqual([usesEd25519(keys), hasPlaceForEd25519(keys)], [false, false]);
  assert.equal(withEd25519(keys, begin), keys);
  keys = afterLook(keys, { seen: [], unneeded: ['e1', 'e2'] }, look);
  assert.deepEqual(inShort(keys), ['one rsa signing'], 'selectors of an algorithm that is off are forgotten');
  assert.equal(nextKeyOf(keys, 'ed25519', NOW).kind, 'off');
});

test('a deleted domain keeps the keys that have signed, and forgets the others', () => {
  let keys = withNextKey([signing('one'), unusedKey('two', 'rsa')], made('new'), NOW);
  assert.deepEqual(inShort(withoutFuture(keys)), ['one rsa signing']);
  keys = withoutFuture(afterLook(keys, { seen: seenOf(keys), unneeded: [] }, { now: NOW, isDeleted: false }));
  assert.deepEqual(inShort(keys), ['one rsa retired', 'two rsa signing']);
  const after = afterLook(keys, { seen: [], unneeded: ['one'] }, { now: NOW, isDeleted: true });
  assert.deepEqual(inShort(after), ['two rsa signing']);
});

test('a waiting key is looked for each minute, then each half hour, then daily; a retired one after seven days', () => {
  const waits = (elapsedMs: number) => [{ state: 'waiting', since: NOW - elapsedMs } as const];
  const delays = [0, MINUTE_MS, HOUR_MS, 72 * HOUR_MS].map(
    (elapsedMs) => (nextLookAt(waits(elapsedMs), NOW) ?? 0) - NOW,
  );
  assert.deepEqual(delays, [MINUTE_MS, MINUTE_MS, 30 * MINUTE_MS, DAY_MS]);
  const retired = { state: 'retired', since: NOW } as const;
  assert.equal(nextLookAt([retired], NOW), NOW + MIN_RETIRED_MS);
  assert.equal(nextLookAt([{ ...retired, since: NOW - MIN_RETIRED_MS }], NOW), NOW + 6 * HOUR_MS);
  assert.equal(nextLookAt([{ state: 'signing', since: NOW }, unusedKey('two', 'rsa')], NOW), null);
});
