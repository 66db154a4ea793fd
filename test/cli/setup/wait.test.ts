import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForRecords } from '../../../src/cli/setup/wait.ts';
import type { OperatorDomain } from '../../../src/domains/admin-api.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { zoneDns } from '../../support/zone-dns.ts';

test('a wait says that the daemon goes on checking only where the daemon stays', async () => {
  const world = { authority: zoneDns(''), clock: createFakeClock(0) };
  const control = { request: () => assert.fail('nothing is asked before the records are there') };
  const report = {
    // The first line ends the wait.
    say(text: string) {
      throw new Error(text);
    },
  };
  const domain = { id: 'dom_1', records: [] } as unknown as OperatorDomain;
  const needed = [{ type: 'TXT', name: 'shop.example', value: 'x' }] as const;
  for (const [isKept, expected] of [
    [true, /Ctrl-C is fine, the daemon goes on checking, and the same command goes on here$/],
    [false, /Ctrl-C is fine, the same command goes on here$/],
  ] as const)
    await assert.rejects(
      waitForRecords({ control, world, report, waitMs: 60_000, isKept }, domain, needed),
      expected,
    );
});
