import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryMonitor } from '../../src/queue/delivery-monitor.ts';
import { type FinalOutcome, NO_REPORT } from '../../src/queue/outcome/outcome.ts';
import { packagedReplies } from '../../src/queue/outcome/replies/replies.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { Hosts } from '../support/loopback.ts';
import { openRoutedSpool } from './routed-spool.ts';

const closing = closeAfterTests();
const QUARTER_MS = 15 * 60_000;

function openMonitor() {
  const clock = createFakeClock(0);
  const metrics = createMetrics(clock);
  return { clock, metrics, monitor: new DeliveryMonitor({ clock, metrics }) };
}

const deferredBy = (fact: 'dns' | 'network', mx: string | null = null): FinalOutcome => ({
  kind: 'deferred',
  report: { ...NO_REPORT, phase: fact === 'dns' ? 'dns' : 'connect', mx, text: 'no', fact },
  meaning: packagedReplies().explainFact(fact),
});
const delivered: FinalOutcome = {
  kind: 'delivered',
  report: {
    ...NO_REPORT,
    phase: 'dot',
    mx: 'mx.rcpt.example',
    smtpCode: 250,
    tls: 'TLSv1.3',
    text: '250 ok',
  },
};

test('fifty failures in a row, and a quarter of an hour without a delivery, are a warning', async () => {
  const { clock, monitor } = openMonitor();
  for (let count = 0; count < 50; count++) monitor.observe(deferredBy('network', 'mx.rcpt.example'), 0);
  assert.equal(monitor.deliversNothing, false, 'it has not lasted yet');
  await clock.advance(QUARTER_MS);
  assert.equal(monitor.deliversNothing, true);
  monitor.observe(delivered, 5);
  assert.equal(monitor.deliversNothing, false);
  await clock.advance(QUARTER_MS);
  monitor.observe(deferredBy('network'), 0);
  assert.equal(monitor.deliversNothing, false, 'a single failure is none');
});

test('twenty domains in a row without an answer of DNS are a warning, until a host is reached', () => {
  const { monitor } = openMonitor();
  for (let count = 0; count < 20; count++) {
    assert.equal(monitor.failsDns, false);
    monitor.observe(deferredBy('dns'), 0);
  }
  assert.equal(monitor.failsDns, true);
  monitor.observe(deferredBy('network', 'mx.rcpt.example'), 0);
  assert.equal(monitor.failsDns, false);
});

test('attempts are counted by outcome, step and provider, and the label is never a domain', async () => {
  const { metrics, monitor } = openMonitor();
  monitor.observe(delivered, 120);
  monitor.observe(deferredBy('network', 'aspmx.l.google.com'), 0);
  const { text } = await metrics.show();
  assert.match(text, /delivery_attempts_total\{outcome="delivered",phase="dot",provider="other"\} 1/);
  assert.match(text, /delivery_attempts_total\{outcome="deferred",phase="connect",provider="google"\} 1/);
  assert.match(text, /delivery_attempts_by_tls_total\{tls="TLSv1.3"\} 1/);
  assert.match(text, /delivery_transaction_duration_seconds_count\{provider="other"\} 1/);
  assert.doesNotMatch(text, /rcpt\.example/);
});

test('the time of each part of a delivery is measured', async () => {
  const hosts: Hosts = {};
  const spool = closing(await openRoutedSpool(hosts));
  hosts['192.0.2.1'] = closing(await startCommandServer(acceptEverything)).port;
  spool.addZone('rcpt.example A 192.0.2.1');
  await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  const { text } = await spool.app.metrics.show();
  for (const part of ['route', 'open', 'store'])
    assert.match(text, new RegExp(`delivery_part_duration_seconds_count\\{part="${part}"\\} 1\n`), part);
});
