import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecipientState } from '../../src/db/tables.ts';
import { aggregateStatus, recipientStatus } from '../../src/queue/status.ts';

const of = (...states: [RecipientState, number][]) =>
  aggregateStatus(states.map(([state, attempts]) => ({ state, attempts })));

test('an email is queued until the first recipient is attempted', () => {
  assert.equal(of(['ready', 0], ['ready', 0]), 'queued');
  assert.equal(of(['ready', 0], ['suppressed', 0]), 'queued');
  assert.equal(of(['ready', 0], ['in_flight', 1]), 'sent');
});

test('an email is sent while a recipient is open and none is delivered', () => {
  assert.equal(of(['deferred', 1], ['bounced', 1]), 'sent');
  assert.equal(of(['held', 5]), 'sent');
});

test('an email is delivered once one recipient has it, whatever the others did', () => {
  assert.equal(of(['delivered', 1], ['bounced', 1], ['deferred', 3]), 'delivered');
});

test('an email whose recipients all bounced or are suppressed is bounced', () => {
  assert.equal(of(['bounced', 1], ['suppressed', 0]), 'bounced');
});

test('a complaint outweighs every other recipient status', () => {
  assert.equal(of(['complained', 1], ['delivered', 1], ['ready', 0]), 'complained');
});

test('an email is canceled only when all recipients are canceled', () => {
  assert.equal(of(['canceled', 0], ['canceled', 0]), 'canceled');
});

test('the API shows its own statuses of recipients, not the states of the spool', () => {
  assert.equal(recipientStatus({ state: 'ready', attempts: 0 }), 'queued');
  assert.equal(recipientStatus({ state: 'ready', attempts: 2 }), 'deferred');
  assert.equal(recipientStatus({ state: 'in_flight', attempts: 1 }), 'sent');
  assert.equal(recipientStatus({ state: 'held', attempts: 5 }), 'held');
  assert.equal(recipientStatus({ state: 'suppressed', attempts: 0 }), 'suppressed');
});
