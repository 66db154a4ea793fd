/** The recorder of opens and clicks, whose places all tenants share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngagementRequest } from '../../src/tracking/engagements/record.ts';
import { createRecorder } from '../../src/tracking/engagements/recorder.ts';

const open: EngagementRequest = {
  ...{
    kind: 'open',
    emailId: 'em_1',
    link: null,
    url: null,
    at: 0,
    ip: null,
    userAgent: null,
    method: 'GET',
  },
  isPrefetch: false,
};

test('a flood of requests for the mail of one tenant costs another none', async () => {
  const held = Promise.withResolvers<void>();
  const recorded: string[] = [];
  let lost = 0;
  const recorder = createRecorder({
    db: {
      commit: async (_: unknown, requests: readonly EngagementRequest[]) => {
        await held.promise;
        recorded.push(...requests.map(({ emailId }) => emailId));
      },
    },
    metrics: { counter: () => ({ inc: () => lost++ }) },
    log: {},
  } as never);
  for (let index = 0; index < 10_000; index++) recorder.record('ten_a', open);
  assert.ok(lost > 0);
  const lostBefore = lost;
  for (let index = 0; index < 900; index++) recorder.record('ten_b', { ...open, emailId: 'em_2' });
  assert.equal(lost, lostBefore);
  held.resolve();
  await recorder.flush();
  assert.equal(recorded.filter((id) => id === 'em_2').length, 900);
  assert.equal(recorded.length, 10_900 - lost);
  // The places are free again.
  for (let index = 0; index < 1_000; index++) recorder.record('ten_a', open);
  await recorder.flush();
  assert.equal(lost, lostBefore);
});
