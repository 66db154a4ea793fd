import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openApp } from '../../src/app.ts';
import { readLastRestore } from '../../src/backups/last-restore.ts';
import { loadConfig } from '../../src/config/config.ts';
import { findRestoredAt } from '../../src/db/installation/store.ts';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import { Follower } from '../../src/standby/follow/follower.ts';
import { type Promotion, promote } from '../../src/standby/follow/promote.ts';
import { Remote } from '../../src/standby/follow/remote.ts';
import { becomeOwner, findOwner, readOwnOwner } from '../../src/standby/owner.ts';
import { createLog } from '../../src/system/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { changedPages, openStandbyPrimary, secondHost } from '../support/standby-primary.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const GENERATION = '20261130T100000Z-00000001';
const NOW = 4_000_000_000_000;
const LOG = createLog('silent');

const primary = await openStandbyPrimary();
after(() => primary[Symbol.asyncDispose]());
const { installation } = primary;

/** The store has a base and three cuts with an email each, whose times come after those of the emails. */
const store = createMemoryStore();
const times: number[] = [];
await becomeOwner(store, { dataDir: temporaryDirectory('first-owner'), installation, now: 1 });
await primary.sendBase(store, GENERATION);
for (const index of [1, 2, 3]) {
  await primary.send(`delivered+${index}@simulator.mx.postrider.example`);
  times.push(Date.now() + index * 60_000);
  const orphan = changedPages(Buffer.alloc(0), primary.databaseAtCut());
  const more = index === 3 ? [{ path: 'mailboxes/mbx_orphan/index.db', pages: orphan }] : [];
  await primary.sendSegment(store, times.at(-1) ?? 0, more);
}

/** The folder of a host that follows. Tests work on copies of it. */
const followed = temporaryDirectory('follows');
const stopping = new AbortController();

function followOptions(folder: string, crashPoint: (name: string) => void = () => {}) {
  const remote = new Remote(store, installation);
  const clock = createFakeClock(0);
  return { remote, folder, identities: [primary.identity], clock, crashPoint, signal: stopping.signal };
}
const follower = new Follower(followOptions(followed));
while (await follower.step());

function promotionOf(folder: string, options: Partial<Promotion> = {}): Promotion {
  const dataDir = join(temporaryDirectory('promoted'), 'data');
  const crashPoint = options.crashPoint ?? (() => {});
  return {
    config: loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' } }),
    now: NOW,
    open: (staged) => openApp(staged, { log: LOG }),
    follow: followOptions(folder, crashPoint),
    isReplacing: false,
    crashPoint,
    ...options,
  };
}

/** Opens a data directory that was promoted, and returns what it has. */
async function inspect({ config }: Promotion) {
  await using app = await openApp(config, { log: LOG });
  const emails = await app.db.read.selectFrom('recipients').select('address').orderBy('address').execute();
  return {
    emails: emails.map(({ address }) => address.replace(/@.*/, '')),
    restoredAt: await findRestoredAt(app.db.read),
    alarm: app.db.installation.alarm,
  };
}

test('a copy becomes the data directory, held, with a list of what may have left', async () => {
  const folder = secondHost(followed);
  const promotion = promotionOf(folder);
  const { dataDir } = promotion.config;
  const promoted = await promote(promotion);
  const { position, mail, list, removedAccounts, problem, replaced } = promoted;
  assert.deepEqual([position.sequence, position.takenAt, problem, replaced], [3, times[2], null, null]);
  assert.deepEqual([mail.in_flight, mail.ready, mail.due_since, removedAccounts], [0, 3, 0, 1]);
  assert.equal(mail.first.length, 3);
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
  assert.match(lines[1] ?? '', /^rcp_\w+\tdelivered\+\d@\S+\t\w+\tready$/);
  assert.equal(lines.length, 4);
  assert.ok(!existsSync(join(dataDir, 'mailboxes', 'mbx_orphan')));
  const owner = await findOwner(store, installation);
  assert.deepEqual(readOwnOwner(dataDir), owner);
  assert.equal(owner?.epoch, 2);
  assert.equal(readLastRestore(dataDir)?.takenAt, times[2]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('lock.db')),
    [],
  );
  await assert.rejects(promote(promotion), /has content \(.*--replace/);
  const found = await inspect(promotion);
  assert.deepEqual(found, {
    emails: ['delivered+1', 'delivered+2', 'delivered+3'],
    restoredAt: NOW,
    alarm: undefined,
  });
});

test('a copy is promoted to the last cut before a time, from the copy or from the store', async () => {
  for (const [at, folder, emails] of [
    [(times[1] ?? 0) + 1, secondHost(followed), 2],
    [times[0] ?? 0, temporaryDirectory('empty'), 1],
    [(times[2] ?? 0) - 1, temporaryDirectory('empty'), 2],
  ] as const) {
    const promotion = promotionOf(folder, { at });
    const { position, mail } = await promote(promotion);
    assert.equal(position.sequence, emails);
    assert.equal(mail.ready + mail.due_since, emails);
    assert.equal((await inspect(promotion)).emails.length, emails);
  }
  await assert.rejects(promote(promotionOf(temporaryDirectory('empty'), { at: 1_000 })), /no base of 1970/);
});

test('of two hosts that are promoted at once one wins, and the other is as it was', async () => {
  const [first, second] = [promotionOf(secondHost(followed)), promotionOf(secondHost(followed))];
  const { remote } = second.follow;
  const slow: ObjectStore = {
    ...store,
    // The other host is promoted between the question who owns the installation and the claim.
    async create(name, bytes) {
      await promote(first);
      return remote.store.create(name, bytes);
    },
  };
  const follow = { ...second.follow, remote: new Remote(slow, installation) };
  await assert.rejects(promote({ ...second, follow }), /another host was promoted at the same time/);
  assert.deepEqual(await findOwner(store, installation), readOwnOwner(first.config.dataDir));
  assert.ok(!existsSync(join(second.config.dataDir, 'postrider.db')));
  const other = new Follower(second.follow);
  await other.open();
  assert.equal(readOwnOwner(other.copy?.dataDir ?? ''), undefined);
  assert.equal(await other.step(), false);
});

test('a promotion that ends at any point is completed by the next one', async () => {
  for (const point of [
    'standby-owner-claimed',
    'restore-copied',
    'restore-marked',
    'restore-replacing',
    'standby-placed',
  ]) {
    const crashPoint = (name: string) => {
      if (name === point) throw new Error(point);
    };
    const promotion = promotionOf(secondHost(followed));
    await assert.rejects(promote({ ...promotion, crashPoint, follow: { ...promotion.follow, crashPoint } }), {
      message: point,
    });
    const owner = await findOwner(store, installation);
    // A process that is killed moves nothing back.
    const copy = join(promotion.follow.folder, GENERATION, 'copy');
    if (point === 'restore-marked') renameSync(copy, join(promotion.config.dataDir, 'restore'));
    const { position, mail } = await promote(promotion);
    assert.equal(position.sequence, 3);
    assert.equal(mail.ready, 3);
    assert.deepEqual(await findOwner(store, installation), owner);
    const { emails, restoredAt } = await inspect(promotion);
    assert.deepEqual([emails.length, restoredAt], [3, NOW]);
  }
});

test('data that is there is kept, and a copy without its key is not opened', async () => {
  const promotion = promotionOf(secondHost(followed));
  const { dataDir } = promotion.config;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'mine'), 'x');
  await assert.rejects(promote(promotion), /has content \(mine\)/);
  const key = join(promotion.follow.folder, GENERATION, 'copy', 'master.key');
  const bytes = readFileSync(key);
  rmSync(key);
  await assert.rejects(promote({ ...promotion, isReplacing: true }), { name: 'MissingKeyError' });
  assert.deepEqual(readFileSync(join(dataDir, 'mine'), 'utf8'), 'x');
  // From then on the copy was opened, and nobody follows with it.
  const other = new Follower(promotion.follow);
  await other.open();
  await assert.rejects(
    other.run(() => {}),
    /the promotion of .* has begun/,
  );
  writeFileSync(key, bytes, { mode: 0o600 });
  const { replaced } = await promote({ ...promotion, isReplacing: true });
  assert.equal(readFileSync(join(replaced ?? '', 'mine'), 'utf8'), 'x');
  assert.equal((await inspect(promotion)).emails.length, 3);
});
