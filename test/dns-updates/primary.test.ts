/** Dynamic updates against a primary that refuses, that changes meanwhile, whose clock differs, and that is cut off. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listWritten } from '../../src/dns-updates/store.ts';
import { createDnsUpdates } from '../../src/dns-updates/updates.ts';
import { PRIMARY_KEY, startDnsPrimary, textRecord } from '../support/dns-primary.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const SPF_NAME = '_spf.mx.postrider.example';

async function open(t: TestContext) {
  const primary = await startDnsPrimary();
  const key = join(temporaryDirectory('tsig'), 'key');
  writeFileSync(key, PRIMARY_KEY);
  const world = await openTestApp({
    env: {
      POSTRIDER_HOSTNAME: 'mx.postrider.example',
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
      POSTRIDER_DNS_UPDATE_SERVER: primary.server,
      POSTRIDER_DNS_UPDATE_KEY: key,
      POSTRIDER_DNS_UPDATE_ZONES: 'postrider.example',
    },
  });
  t.after(async () => {
    await world.close();
    primary.close();
  });
  const { app } = world;
  const writtenNames = async () => (await app.db.query(listWritten, {})).map(({ name }) => name);
  return { app, primary, updates: createDnsUpdates(app, []), writtenNames };
}

test('updates that the server refuses are failures by themselves, and a later pass makes them', async (t) => {
  const { primary, updates, writtenNames } = await open(t);
  primary.onUpdate(() => 'refused');
  const { problem, records } = await updates.run();
  assert.equal(problem, null);
  assert.ok(records.length > 0);
  for (const { state, detail } of records)
    assert.deepEqual([state, /must allow the key .*\(REFUSED\)$/.test(detail)], ['failed', true], detail);
  assert.deepEqual([primary.records, await writtenNames()], [[], []]);

  primary.onUpdate(() => undefined);
  const states = async () => [...new Set((await updates.run()).records.map(({ state }) => state))];
  assert.deepEqual(await states(), ['written']);
  assert.deepEqual(await states(), ['in_place']);
  assert.ok((await writtenNames()).includes(SPF_NAME));
});

test('a record that somebody else makes between question and update stays alone, and is a conflict in the next pass', async (t) => {
  const { primary, updates, writtenNames } = await open(t);
  const foreign = 'v=spf1 -all';
  let isMade = false;
  primary.onUpdate((names) => {
    if (isMade || !names.includes(SPF_NAME)) return undefined;
    isMade = true;
    primary.records.push(textRecord(SPF_NAME, foreign));
    return undefined;
  });
  const stateOf = async () =>
    (await updates.run()).records.find(({ name, type }) => name === SPF_NAME && type === 'TXT');
  const first = await stateOf();
  assert.deepEqual(first?.state, 'failed');
  assert.match(first?.detail ?? '', /have changed meanwhile \((?:YXRRSET|NXRRSET)\); it is tried again/);
  assert.deepEqual(primary.texts(SPF_NAME), [foreign]);
  const second = await stateOf();
  assert.deepEqual([second?.state, /merge them/.test(second?.detail ?? '')], ['conflict', true]);
  assert.deepEqual(primary.texts(SPF_NAME), [foreign]);
  assert.ok(!(await writtenNames()).includes(SPF_NAME));
});

test('a server whose clock differs is said to differ, and nothing is written', async (t) => {
  const { primary, updates, writtenNames } = await open(t);
  primary.badTime = { secondsLater: 3_600 };
  const { problem } = await updates.run();
  assert.match(problem ?? '', /its clock and the clock of this machine differ \(BADTIME\)$/);
  assert.deepEqual([primary.records, await writtenNames()], [[], []]);
});

test('an update that was made, but whose answer and storage are lost, is found by its mark and goes again with what printed it', async (t) => {
  const { app, primary, updates, writtenNames } = await open(t);
  primary.onUpdate(() => 'cut');
  assert.match((await updates.run()).problem ?? '', /does not answer/);
  const [made] = primary.records;
  assert.ok(made);
  assert.deepEqual(await writtenNames(), []);

  // The next process finds the record with its mark, and stores that it is its own.
  primary.onUpdate(() => undefined);
  const next = await createDnsUpdates(app, []).run();
  assert.equal(next.problem, null);
  assert.equal(next.records.find(({ name }) => name === made.name)?.state, 'in_place');
  assert.ok((await writtenNames()).includes(made.name));
  assert.equal(
    primary.records.filter(({ name, type }) => name === made.name && type === made.type).length,
    1,
  );
});
