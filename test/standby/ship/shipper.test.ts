import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CollectedAccounts } from '../../../src/accounts/followed-accounts.ts';
import type { ChangedPages } from '../../../src/db/changed-pages.ts';
import { newGeneration } from '../../../src/standby/names.ts';
import type { ShipCalls, ShipState } from '../../../src/standby/ship/part.ts';
import type { Resumable } from '../../../src/standby/ship/resumable.ts';
import { Shipper, type ShippingApp } from '../../../src/standby/ship/shipper.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NOW = Date.parse('2027-01-15T08:00:00Z');
const HASH = 'ab'.repeat(32);

function pagesOf(...numbers: number[]): ChangedPages {
  return {
    pageBytes: 4_096,
    databasePages: 10,
    numbers: Uint32Array.from(numbers),
    contents: new Uint8Array(4_096 * numbers.length),
  };
}

function accountOf(changed: Partial<Exclude<CollectedAccounts, 'lost'>[number]>) {
  return { id: 'mbx_1' as const, pages: undefined, isReplaced: false, files: [], ...changed };
}

/** An app whose databases change as a test says, and whose thread only notes what it is asked. */
function openWorld() {
  const clock = createFakeClock(NOW);
  const dataDir = temporaryDirectory('shipper');
  const { log, lines } = recordLog();
  const notes: string[] = [];
  const segments: Parameters<ShipCalls['addSegment']>[0][] = [];
  const bases: unknown[] = [];
  const world = {
    pages: undefined as ChangedPages | 'lost' | undefined,
    accounts: [] as CollectedAccounts,
    files: [] as string[] | 'lost',
    state: { waitingBytes: 0, objects: 0, bytes: 0 } as Partial<ShipState>,
    isHeld: false,
    baseError: undefined as Error | undefined,
    stateError: undefined as Error | undefined,
    making: Promise.resolve(),
    resumable: null as Resumable | null,
    scan: (async () => ({ withWal: [] })) as () => Promise<{ withWal: `mbx_${string}`[] } | 'too much'>,
    collecting: Promise.resolve(),
  };
  const config = { dataDir, standby: { keepDays: 7, spoolMegabytes: 16 } };
  const app = {
    ...{ clock, log, config, installation: 'inst' },
    egress: {
      get isHeld() {
        return world.isHeld;
      },
    },
    disk: { requireReserve() {} },
    db: {
      followPages: async (isFollowed: boolean) => void notes.push(`follow ${isFollowed}`),
      async collectPages() {
        await world.collecting;
        return world.pages;
      },
    },
    blobs: { followFiles() {}, takeNewFiles: () => world.files },
    accounts: {
      followPages: async () => {},
      collectPages: async () => world.accounts,
      copyBack: async (id: string) => void notes.push(`copy back ${id}`),
    },
    async makeBase(folder: string) {
      await world.making;
      if (world.baseError) throw world.baseError;
      notes.push('base');
      return { path: join(folder, 'backup') };
    },
    shipCalls: {
      async begin({ isFirst }: { isFirst: boolean }) {
        notes.push(isFirst ? 'begin' : 'begin another');
        return { generation: newGeneration(clock.now()), folder: join(dataDir, 'standby') };
      },
      resume: async () => world.resumable,
      listWithWal: async () => ['mbx_2'],
      async scan({ isBase }: { isBase: boolean }) {
        notes.push(isBase ? 'scan of a base' : 'scan');
        return world.scan();
      },
      addBase: async ({ firstCut }: { firstCut: unknown }) => void bases.push(firstCut),
      end: async () => void notes.push('end'),
      addSegment: async (segment: (typeof segments)[number]) => void segments.push(segment),
      async state() {
        if (world.stateError) throw world.stateError;
        return world.state as ShipState;
      },
    },
  };
  const shipper = new Shipper(app as unknown as ShippingApp);
  return { bases, clock, dataDir, lines, notes, segments, shipper, world };
}

test('changes are collected from before the base on, main database first, and one cut has them all', async () => {
  const { clock, notes, segments, shipper, world } = openWorld();
  world.pages = pagesOf(1, 2);
  world.accounts = [accountOf({ pages: pagesOf(3), files: [HASH] })];
  await shipper.tick();
  await clock.advance(0);
  assert.deepEqual(notes, ['begin', 'copy back mbx_2', 'follow true', 'base', 'scan of a base']);
  const [segment] = segments;
  assert.deepEqual(
    segment?.databases.map(({ path }) => path),
    ['postrider.db', 'mailboxes/mbx_1/index.db'],
  );
  assert.deepEqual(segment?.files, [`mailboxes/mbx_1/blobs/ab/${HASH}`]);
  const [cut] = segment?.cuts ?? [];
  assert.deepEqual([cut?.sequence, cut?.takenAt, cut?.installation], [1, NOW, 'inst']);
});

test('without changes only a sign of life is shipped, at once and then each minute', async () => {
  const { clock, segments, shipper } = openWorld();
  for (let second = 0; second < 125; second++) {
    await shipper.tick();
    await clock.advance(1_000);
  }
  assert.deepEqual(
    segments.map(({ cuts }) => cuts[0]?.sequence),
    [1, 2, 3],
  );
});

test('a base is sent with the first cut that was collected after it was made', async () => {
  const { bases, clock, segments, shipper, world } = openWorld();
  const made = Promise.withResolvers<void>();
  world.making = made.promise;
  world.pages = pagesOf(1);
  await shipper.tick();
  await clock.advance(1_000);
  await shipper.tick();
  const collecting = Promise.withResolvers<void>();
  world.collecting = collecting.promise;
  // This cut begins to be collected before the base is made, and ends after it.
  const ticking = shipper.tick();
  await clock.advance(0);
  made.resolve();
  await clock.advance(1_000);
  collecting.resolve();
  await ticking;
  assert.deepEqual(bases, []);
  world.pages = undefined;
  await clock.advance(1_000);
  await shipper.tick();
  assert.deepEqual(bases, [{ sequence: 4, takenAt: NOW + 3_000 }]);
  assert.equal(segments.length, 4, 'the first cut is shipped although nothing has changed');
});

test('small files that have changed are shipped, but not those that the base has', async () => {
  const { clock, dataDir, segments, shipper, world } = openWorld();
  writeFileSync(join(dataDir, 'master.key'), 'key');
  world.pages = pagesOf(1);
  await shipper.tick();
  writeFileSync(join(dataDir, 'certificate.pem'), 'new');
  await clock.advance(31_000);
  await shipper.tick();
  assert.deepEqual(
    segments.map(({ files }) => files),
    [[], ['certificate.pem']],
  );
});

test('the cuts that the store has are known, and the age of the oldest that it does not have', async () => {
  const { clock, shipper, world } = openWorld();
  world.pages = pagesOf(1);
  for (let second = 0; second < 3; second++) {
    await shipper.tick();
    await clock.advance(1_000);
  }
  const generation = shipper.progress.generation as string;
  assert.deepEqual([shipper.progress.storedCutAt, shipper.progress.oldestUnstoredAt], [null, NOW]);
  world.state = { ...world.state, stored: { generation, sequence: 2 } };
  await shipper.tick();
  assert.deepEqual(
    [shipper.progress.storedCutAt, shipper.progress.oldestUnstoredAt],
    [NOW + 1_000, NOW + 2_000],
  );
});

test('after a gap a new base follows when the generation cannot go on', async () => {
  const { clock, lines, notes, shipper, world } = openWorld();
  await shipper.tick();
  for (const loss of [
    () => (world.pages = 'lost'),
    () => (world.accounts = 'lost'),
    () => (world.accounts = [accountOf({ isReplaced: true })]),
    () => (world.files = 'lost'),
    () => (world.state = { ...world.state, waitingBytes: 17 * 1024 * 1024 }),
  ]) {
    loss();
    await shipper.tick();
    assert.equal(shipper.progress.generation, null);
    world.pages = undefined;
    world.accounts = [];
    world.files = [];
    world.state = { ...world.state, waitingBytes: 0 };
    await shipper.tick();
    assert.equal(shipper.progress.generation, null, 'it waits for a while');
    await clock.advance(60_000);
    await shipper.tick();
    assert.notEqual(shipper.progress.generation, null);
  }
  assert.equal(shipper.progress.gaps, 5);
  assert.equal(lines.length, 5);
  assert.deepEqual(notes.filter((note) => note === 'follow false').length, 5);
});

test('nothing is collected while the store does not answer, and in a restored installation', async () => {
  const { notes, shipper, world } = openWorld();
  world.state = { ...world.state, failure: 'connection refused' };
  await shipper.tick();
  world.state = { ...world.state, failure: undefined };
  world.isHeld = true;
  await shipper.tick();
  assert.deepEqual(notes, []);
  world.isHeld = false;
  await shipper.tick();
  assert.deepEqual(notes.slice(0, 3), ['begin', 'copy back mbx_2', 'follow true']);
});

test('a base that cannot be made is tried again', async () => {
  const { clock, notes, shipper, world } = openWorld();
  world.baseError = new Error('Another backup is being made');
  await shipper.tick();
  await clock.advance(0);
  assert.deepEqual(notes, ['begin', 'copy back mbx_2', 'follow true', 'follow false', 'end']);
  world.baseError = undefined;
  await shipper.tick();
  assert.equal(shipper.progress.generation, null);
  await clock.advance(60_000);
  await shipper.tick();
  assert.notEqual(shipper.progress.generation, null);
});

test('an old generation goes on until the store has the new one', async () => {
  const { clock, notes, segments, shipper, world } = openWorld();
  world.pages = pagesOf(1);
  await shipper.tick();
  const old = shipper.progress.generation;
  await clock.advance(1_000);
  await shipper.tick();
  await clock.advance(7 * DAY_MS + 1_000);
  await shipper.tick();
  assert.equal(shipper.progress.generation, old);
  const names = segments.at(-1)?.cuts.map(({ generation }) => generation) ?? [];
  assert.equal(names.length, 2);
  assert.deepEqual(
    segments.at(-1)?.cuts.map(({ sequence }) => sequence),
    [3, 1],
  );
  world.state = { ...world.state, stored: { generation: names[1] as string, sequence: 1 } };
  await shipper.tick();
  assert.equal(shipper.progress.generation, names[1]);
  assert.equal(segments.at(-1)?.cuts.length, 1);
  assert.equal(notes.at(-1), 'end');
});

type World = ReturnType<typeof openWorld>['world'];

/** Lets a generation go on after its fifth segment. Returns its name. */
function letGoOn(world: World): string {
  const generation = newGeneration(NOW - DAY_MS);
  world.resumable = { generation, sequence: 5, takenAt: NOW - 1_000 };
  return generation;
}

test('a generation goes on with the first cut that is collected after the scan', async () => {
  const { clock, dataDir, notes, segments, shipper, world } = openWorld();
  const generation = letGoOn(world);
  const scanned = Promise.withResolvers<{ withWal: `mbx_${string}`[] }>();
  world.scan = () => scanned.promise;
  world.pages = pagesOf(1);
  writeFileSync(join(dataDir, 'master.key'), 'key');
  await shipper.tick();
  await clock.advance(1_000);
  await shipper.tick();
  assert.deepEqual(notes, ['copy back mbx_2', 'follow true', 'scan']);
  assert.equal(segments.length, 0, 'nothing is collected before the scan has ended');
  assert.deepEqual([shipper.progress.isResyncing, shipper.progress.resyncs], [true, 0]);
  scanned.resolve({ withWal: ['mbx_3'] });
  await clock.advance(1_000);
  assert.equal(notes.at(-1), 'copy back mbx_3');
  await shipper.tick();
  await clock.advance(1_000);
  await shipper.tick();
  assert.deepEqual(
    segments.map(({ cuts: [cut], files, hasScan }) => [cut?.generation, cut?.sequence, files, hasScan]),
    [
      [generation, 6, ['master.key'], true],
      [generation, 7, [], false],
    ],
  );
  assert.deepEqual([shipper.progress.isResyncing, shipper.progress.resyncs], [false, 1]);
});

test('a generation that goes on is replaced by a new base at the age of the kept days', async () => {
  const { clock, notes, segments, shipper, world } = openWorld();
  letGoOn(world);
  world.pages = pagesOf(1);
  for (let day = 0; day < 8; day++) {
    await shipper.tick();
    await clock.advance(DAY_MS);
  }
  assert.ok(notes.includes('begin another') && !notes.includes('begin'));
  assert.ok(!notes.includes('scan of a base'), 'what the old one has shipped is what the new one has');
  assert.equal(segments.at(-1)?.cuts.length, 2);
});

test('a new base follows when too much differs, and when the changes were lost meanwhile again and again', async () => {
  for (const [attempts, change] of [
    [1, { scan: async () => 'too much' as const }],
    [3, { accounts: 'lost' as const }],
  ] as const) {
    const { clock, notes, segments, shipper, world } = openWorld();
    letGoOn(world);
    Object.assign(world, change);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      await shipper.tick();
      await clock.advance(0);
      await shipper.tick();
      assert.deepEqual([shipper.progress.generation, shipper.progress.gaps], [null, attempt]);
      assert.ok(!notes.includes('begin'));
      await clock.advance(60_000);
    }
    assert.ok(!notes.includes('end'), 'a restart may still let it go on');
    world.accounts = [];
    world.pages = pagesOf(1);
    await shipper.tick();
    assert.ok(notes.includes('begin'));
    assert.deepEqual(segments[0]?.cuts[0]?.sequence, 1);
  }
});

test('after a gap the generation goes on, also when the spool was full', async () => {
  const { clock, notes, segments, shipper, world } = openWorld();
  const generation = letGoOn(world);
  await shipper.tick();
  await clock.advance(0);
  await shipper.tick();
  world.state = { ...world.state, waitingBytes: 17 * 1024 * 1024 };
  await shipper.tick();
  assert.deepEqual([shipper.progress.generation, shipper.progress.gaps], [null, 1]);
  assert.equal(shipper.progress.oldestUnstoredAt, NOW, 'its segments still wait');
  world.resumable = { generation, sequence: 6, takenAt: NOW };
  await clock.advance(60_000);
  await shipper.tick();
  assert.equal(shipper.progress.generation, null, 'it waits until the store has taken what waits');
  world.state = { ...world.state, waitingBytes: 0, stored: { generation, sequence: 6 } };
  await shipper.tick();
  await clock.advance(0);
  await shipper.tick();
  assert.equal(segments.at(-1)?.cuts[0]?.sequence, 7);
  assert.deepEqual([shipper.progress.resyncs, shipper.progress.storedCutAt], [2, NOW]);
  assert.ok(!notes.includes('begin'));
});

test('two searches for differences never run at once, and one that a gap has overtaken counts no more', async () => {
  const { clock, notes, segments, shipper, world } = openWorld();
  letGoOn(world);
  const scans: PromiseWithResolvers<{ withWal: `mbx_${string}`[] }>[] = [];
  world.scan = () => {
    scans.push(Promise.withResolvers());
    return (scans.at(-1) as (typeof scans)[number]).promise;
  };
  await shipper.tick();
  await clock.advance(0);
  world.stateError = new Error('the thread has died');
  await shipper.tick();
  assert.equal(shipper.progress.generation, null);
  world.stateError = undefined;
  await clock.advance(61_000);
  await shipper.tick();
  assert.deepEqual([scans.length, notes.includes('begin')], [1, false]);
  scans[0]?.resolve({ withWal: [] });
  await clock.advance(1_000);
  assert.deepEqual([shipper.progress.isResyncing, segments.length], [false, 0]);
  // A base follows, whose first cut was not collected after a scan.
  world.resumable = null;
  world.making = Promise.withResolvers<void>().promise;
  world.pages = pagesOf(1);
  await shipper.tick();
  assert.ok(notes.includes('begin'));
  assert.deepEqual(
    segments.map(({ hasScan }) => hasScan),
    [false],
  );
});
