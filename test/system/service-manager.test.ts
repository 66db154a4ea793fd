import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '../../src/system/log.ts';
import { openServiceManager } from '../../src/system/service-manager.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Opens a service manager whose messages go to a file. */
function open(env: Record<string, string> = {}) {
  const file = join(temporaryDirectory('notify'), 'messages');
  const descriptor = openSync(file, 'w');
  const clock = createFakeClock(0);
  const warnings: string[] = [];
  const log = Object.assign(createLog('silent'), {
    warn: (_fields: object, message: string) => void warnings.push(message),
  });
  const manager = openServiceManager({ clock, log }, { NOTIFY_FD: String(descriptor), ...env });
  const messages = () => readFileSync(file, 'utf8').match(/[A-Z]+=1/g) ?? [];
  return { manager, clock, warnings, messages, descriptor };
}

test('the daemon reports its states, and nothing else without a watchdog', async () => {
  const { manager, clock, messages } = open();
  manager.reportReady();
  await clock.advance(3_600_000);
  manager.reportReloading();
  manager.reportReady();
  manager.reportStopping();
  assert.deepEqual(messages(), ['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1']);
});

test('the watchdog is fed three times within its time, until the end', async () => {
  const { manager, clock, messages } = open({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(process.pid) });
  const fed = () => messages().filter((message) => message === 'WATCHDOG=1').length;
  await clock.advance(60_000);
  assert.equal(fed(), 0);
  manager.reportReady();
  assert.equal(fed(), 1);
  await clock.advance(9_999);
  assert.equal(fed(), 1);
  await clock.advance(1);
  assert.equal(fed(), 2);
  manager.reportReady();
  await clock.advance(10_000);
  assert.equal(fed(), 3);
  manager.close();
  await clock.advance(60_000);
  assert.equal(fed(), 3);
});

test('a watchdog that is set for another process is not fed', async () => {
  const { manager, clock, messages } = open({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' });
  manager.reportReady();
  await clock.advance(60_000);
  assert.deepEqual(messages(), ['READY=1']);
});

test('a message that cannot be sent is warned of once', () => {
  const { manager, warnings, descriptor } = open();
  closeSync(descriptor);
  manager.reportReady();
  manager.reportStopping();
  assert.deepEqual(warnings, ['cannot tell systemd how the daemon is']);
});

test('a daemon without a service manager sends nothing', async () => {
  const clock = createFakeClock(0);
  const log = createLog('silent');
  const manager = openServiceManager({ clock, log }, { WATCHDOG_USEC: '1' });
  assert.doesNotThrow(() => manager.reportReady());
});
