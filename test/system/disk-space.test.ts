import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { pino } from 'pino';
import { DiskSpace, type DiskUsage, statDisk } from '../../src/system/disk-space.ts';
import { AppError } from '../../src/system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MB = 1024 * 1024;
const GB = 1024 * MB;

function open(usage: Partial<DiskUsage> = {}, reserveBytes = 512 * MB) {
  const clock = createFakeClock(0);
  const logged: string[] = [];
  const log = pino(
    { level: 'info', base: null },
    { write: (line) => void logged.push(JSON.parse(line).msg) },
  );
  const state = { usage: { freeBytes: 50 * GB, totalBytes: 100 * GB, ...usage }, looks: 0, fails: false };
  const disk = new DiskSpace(
    {
      clock,
      log,
      async statDisk() {
        state.looks++;
        if (state.fails) throw new Error('no such file system');
        return state.usage;
      },
    },
    '/srv/mail',
    reserveBytes,
  );
  return { disk, clock, logged, state };
}

test('below the reserve, and not at it, nothing new is accepted', async () => {
  const { disk, state, logged } = open({ freeBytes: 512 * MB });
  assert.equal(disk.isBelowReserve, false, 'before the first look');
  await disk.check();
  assert.equal(disk.isBelowReserve, false);
  disk.requireReserve();
  state.usage.freeBytes -= 1;
  await disk.check();
  await disk.check();
  assert.equal(disk.isBelowReserve, true);
  assert.equal(disk.isFull, false);
  assert.throws(() => disk.requireReserve(), AppError);
  state.usage.freeBytes = GB;
  await disk.check();
  assert.equal(disk.isBelowReserve, false);
  assert.deepEqual(logged, [
    'free disk space is below the reserve: nothing new is accepted',
    'free disk space is above the reserve again',
  ]);
});

test('the reserve is at most a tenth of the disk, and none when it is 0', async () => {
  for (const [totalBytes, freeBytes, reserveBytes, isBelow] of [
    [2 * GB, 300 * MB, 512 * MB, false],
    [2 * GB, 200 * MB, 512 * MB, true],
    [2 * GB, MB, 0, false],
  ] as const) {
    const { disk } = open({ totalBytes, freeBytes }, reserveBytes);
    await disk.check();
    assert.equal(disk.isBelowReserve, isBelow, `${freeBytes} of ${totalBytes}, reserve ${reserveBytes}`);
  }
});

test('a disk is full without space for a transaction, and for a while after a write had none', async () => {
  const { disk, clock, state } = open({ freeBytes: MB - 1 });
  await disk.check();
  assert.equal(disk.isFull, true);
  state.usage.freeBytes = 50 * GB;
  await disk.check();
  assert.equal(disk.isFull, false);
  // The free space does not show a used-up quota.
  disk.reportFull();
  assert.equal(disk.isFull, true);
  await clock.advance(30_000);
  assert.equal(disk.isFull, false);
});

test('the disk is looked at every five seconds until the watch ends, also after a look that failed', async () => {
  const { disk, clock, state } = open();
  const watch = disk.watch();
  await clock.advance(10_000);
  assert.equal(state.looks, 2);
  state.fails = true;
  await clock.advance(5_000);
  assert.equal(disk.freeBytes, 50 * GB, 'what was known before');
  state.fails = false;
  await clock.advance(5_000);
  assert.equal(state.looks, 4);
  watch.stop();
  await clock.advance(60_000);
  assert.equal(state.looks, 4);
});

test('the file system answers in bytes', async () => {
  const { freeBytes, totalBytes } = await statDisk(tmpdir());
  assert.ok(totalBytes > MB && freeBytes <= totalBytes);
});
