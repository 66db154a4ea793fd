import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryTrace } from '../../../src/queue/conversation/trace.ts';
import { RemoteTraces, serveTraces, type TellCalls } from '../../../src/queue/thread/traces.ts';
import { pause } from '../../support/pause.ts';

const OUTCOME = {
  kind: 'deferred',
  report: { mx: 'mx.one.example', text: '450 later' },
} as Parameters<DeliveryTrace['showOutcome']>[2];

/** Returns both sides of a trace. The main thread takes events once `release` is called, or at once. */
function open({ isSlow = false } = {}) {
  const trace = new DeliveryTrace();
  const held = Promise.withResolvers<void>();
  const told: number[] = [];
  const host: TellCalls = {
    async tell(input) {
      told.push(input.told.length);
      await traces.take(input);
      if (isSlow) await held.promise;
    },
  };
  const calls = serveTraces(trace, host);
  const traces = new RemoteTraces(calls);
  const attempt = (site: string) =>
    trace.showOutcome(
      { site, message: { id: 'em_1', tenantId: 'ten_1' }, conversation: [] },
      'bob@one.example',
      OUTCOME,
    );
  return { trace, traces, told, attempt, release: held.resolve };
}

test('the events of a watched site cross, those of one turn together, and others do not', async () => {
  const { trace, traces, told, attempt } = open();
  const events: string[] = [];
  const byHost = { name: 'mx.one.example', siteOfDomain: undefined };
  const end = traces.watch(byHost, (event) => events.push(event.kind), assert.fail);
  await pause();
  assert.equal(trace.watchers, 1);
  for (let turn = 0; turn < 2; turn++) {
    attempt('mx.one.example,mx2.one.example');
    attempt('mx.one.example');
    attempt('mx.two.example');
    await pause();
  }
  assert.deepEqual([events, told], [Array(4).fill('outcome'), [2, 2]]);
  end();
  await pause();
  assert.equal(trace.isWatched, false);
  attempt('mx.one.example');
  await pause();
  assert.equal(events.length, 4);
});

test('a main thread that does not keep up loses the watch, and is told so once', async () => {
  const { trace, traces, attempt, release } = open({ isSlow: true });
  let events = 0;
  let drops = 0;
  const site = { name: 'one.example', siteOfDomain: 'mx.one.example' };
  traces.watch(
    site,
    () => void events++,
    () => void drops++,
  );
  await pause();
  for (let count = 0; count < 5_000; count++) attempt('mx.one.example');
  await pause();
  assert.deepEqual([events, drops, trace.isWatched], [2_000, 1, false]);
  release();
});
