import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { QueueWaits } from '../../src/queue/waiting.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const asked: string[] = [];
let waits: QueueWaits = new Map();
const testApp = await openTestApp({
  system: { clock },
  explainWaiting: async (queues) => {
    asked.push(...queues);
    return waits;
  },
});
after(() => testApp.close());

/** Accepts an email in test mode, and returns the state of its only recipient. */
async function waitingOf(fields: Record<string, unknown> = {}) {
  const email = {
    from: 'hello@sandbox.mx.postrider.example',
    to: ['delivered@simulator.mx.postrider.example'],
    ...{ subject: 'Hello', text: 'Hello', type: 'transactional', ...fields },
  };
  const { body: sent } = await testApp.request('POST', '/v1/emails', { body: email });
  const { body: shown } = await testApp.request('GET', `/v1/emails/${sent.id}`);
  return shown.recipients[0]?.waiting;
}

test('a recipient whose time has come shows what keeps it, and until when', async () => {
  assert.equal(await waitingOf(), null);
  const [queue = ''] = asked;
  assert.match(queue, /^test transactional ten_/);
  const rest = { reason: 'rest', until: clock.now() + 60_000 } as const;
  waits = new Map([[queue, { firstAttempts: rest, retries: undefined }]]);
  assert.deepEqual(await waitingOf(), { reason: 'rest', until: '2030-01-01T00:01:00.000Z' });
  waits = new Map([[queue, { firstAttempts: { reason: 'warm_up', until: null }, retries: rest }]]);
  assert.deepEqual(await waitingOf(), { reason: 'warm_up', until: null });
});

test('a recipient whose time has not come waits for nothing else', async () => {
  asked.length = 0;
  const scheduledAt = new Date(clock.now() + 3_600_000).toISOString();
  assert.equal(await waitingOf({ scheduledAt }), null);
  assert.deepEqual(asked, [], 'nobody is asked about it');
});
