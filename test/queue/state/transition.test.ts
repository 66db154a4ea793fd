import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecipientRow, RecipientState } from '../../../src/db/tables.ts';
import { NO_REPORT, type Report, type SimulatedFeedback } from '../../../src/queue/outcome/outcome.ts';
import { packagedReplies } from '../../../src/queue/outcome/replies/replies.ts';
import { effectOf, type Transition } from '../../../src/queue/state/transition.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const REPORT: Report = { ...NO_REPORT, phase: 'dot', text: '250 ok' };

function recipient(change: Partial<RecipientRow> = {}): RecipientRow {
  const row: Partial<RecipientRow> = {
    id: 'rcp_1',
    attempts: 1,
    interruptedAttempts: 1,
    delayNoticeAt: null,
  };
  return { ...row, state: 'in_flight', ...change } as RecipientRow;
}

const effect = (transition: Transition, change: Partial<RecipientRow> = {}) =>
  effectOf(transition, { recipient: recipient(change), expiresAt: NOW + 1, now: NOW });

const delivered = (feedback?: SimulatedFeedback): Transition => ({
  cause: 'delivered',
  report: REPORT,
  durationMs: 1,
  feedback,
});

const STATES: readonly RecipientState[] = [
  'ready',
  'in_flight',
  'deferred',
  'held',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'canceled',
];

const MEANING = packagedReplies().explainFact('null-mx');

const CAUSES: readonly [Transition, readonly RecipientState[]][] = [
  [{ cause: 'claimed', runId: 'this', leasedUntil: 1 }, ['ready', 'deferred']],
  [
    { cause: 'suppressed', state: 'suppressed', reason: 'The reader has unsubscribed' },
    ['ready', 'deferred'],
  ],
  [{ cause: 'parked' }, ['ready', 'deferred']],
  [{ cause: 'unparked', dueAt: 1 }, ['ready', 'deferred']],
  [delivered(), ['in_flight']],
  [
    { cause: 'bounced', report: REPORT, bounce: 'permanent', meaning: MEANING },
    ['in_flight', 'ready', 'deferred', 'held'],
  ],
  [{ cause: 'bounced-later', report: REPORT, bounce: 'permanent', meaning: MEANING }, ['delivered']],
  [{ cause: 'delayed-later', diagnostic: 'd', willRetryUntil: null, meaning: MEANING }, ['delivered']],
  [
    {
      cause: 'complained',
      complaint: { feedbackType: 'abuse', userAgent: null, arrivedAt: NOW },
      meaning: MEANING,
    },
    ['delivered'],
  ],
  [{ cause: 'deferred', report: REPORT, meaning: MEANING, dueAt: NOW }, ['in_flight']],
  [{ cause: 'held', reason: 'damaged', diagnostic: 'd' }, ['in_flight', 'ready', 'deferred']],
  [{ cause: 'interrupted', dueAt: NOW }, ['in_flight']],
  [{ cause: 'unsent', dueAt: NOW }, ['in_flight']],
  [{ cause: 'released', dueAt: NOW }, ['held']],
  [{ cause: 'canceled' }, ['ready', 'deferred', 'held']],
  [{ cause: 'rescheduled', dueAt: NOW }, ['ready']],
  [{ cause: 'retried', dueAt: NOW }, ['ready', 'deferred']],
  [
    { cause: 'rerouted', queue: 'live transactional ten_1 a.example>b.example' },
    ['ready', 'deferred', 'held'],
  ],
  [{ cause: 'probe-begun', dueAt: NOW }, ['ready']],
  [{ cause: 'probe-withdrawn' }, ['ready']],
];

test('each cause changes a recipient only from the states in which it can occur', () => {
  for (const [transition, allowed] of CAUSES) {
    for (const state of STATES) {
      const change = () => effect(transition, { state });
      if (allowed.includes(state)) change();
      else assert.throws(change, new Error(`${transition.cause}: recipient rcp_1 is ${state}`));
    }
  }
});

test('a recipient that is no longer in flight has no lease, whatever the cause', () => {
  for (const [transition, allowed] of CAUSES) {
    if (!allowed.includes('in_flight')) continue;
    assert.equal(effect(transition).patch.runId, null, transition.cause);
  }
});

test('a simulated complaint is one change with two events, and ends the recipient as complained', () => {
  const { patch, events } = effect(delivered('complained'));
  assert.equal(patch.state, 'complained');
  const types = events.map(({ type }) => type);
  assert.deepEqual(types, ['email.delivered', 'email.complained']);
  assert.equal(effect(delivered('opened')).patch.state, 'delivered');
});

test('only crashes count as interrupted attempts, and a suspect that is put back waits for its probe', () => {
  const putBack = (transition: Transition, interruptedAttempts: number) => {
    const state = transition.cause === 'released' ? 'held' : 'in_flight';
    const { patch } = effect(transition, { state, interruptedAttempts });
    return [patch.interruptedAttempts, patch.dueAt];
  };
  assert.deepEqual(putBack({ cause: 'interrupted', dueAt: NOW }, 0), [1, NOW]);
  assert.deepEqual(putBack({ cause: 'interrupted', dueAt: NOW }, 1), [2, null]);
  assert.deepEqual(putBack({ cause: 'unsent', dueAt: NOW }, 1), [1, NOW]);
  assert.deepEqual(putBack({ cause: 'unsent', dueAt: NOW }, 2), [2, null]);
  assert.deepEqual(putBack({ cause: 'released', dueAt: NOW }, 5), [4, null]);
  assert.deepEqual(putBack({ cause: 'released', dueAt: NOW }, 0), [0, NOW]);
});
