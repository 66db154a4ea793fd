/** The attempts at a site reach those who watch it, and operators alone. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { inspectCertificates } from '../../../src/certificates/certificates.ts';
import { createControlServer } from '../../../src/control-socket.ts';
import type { Stream } from '../../../src/dashboard/live/stream.ts';
import { traceTopic } from '../../../src/dashboard/live/topics.ts';
import { createTraces, type TraceLine } from '../../../src/dashboard/live/traces.ts';
import { callsOf } from '../../../src/http/json/calls.ts';
import { DeliveryTrace } from '../../../src/queue/conversation/trace.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { openRoutedSpool } from '../../queue/routed-spool.ts';
import { logIn } from '../../support/browser.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { openEventStream } from '../../support/event-stream.ts';
import type { Hosts } from '../../support/loopback.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
const { app, clock } = spool;
const trace = new DeliveryTrace();
const control = await createControlServer(app, { certificates: inspectCertificates(app), trace });
after(() => control.close());
const smtp = closing(
  await startCommandServer((line) => (line.startsWith('RCPT') ? '450 4.2.0 later' : acceptEverything(line))),
);
hosts['192.0.2.1'] = smtp.port;
spool.addZone('one.example MX 10 mx.one.example\nmx.one.example A 192.0.2.1');
beforeEach(() => clock.advance(1));

const operator = callsOf(() => control, { prefix: '', clientAddress: '127.0.0.1' });
const topicOf = (site: string) => traceTopic(site, operator);

type Frame = { topic: string; lines: (TraceLine & { position: number })[]; omitted: number };

/** A stream that keeps its frames. */
function keepFrames(): Stream & { frames: Frame[]; lines(): Frame['lines'] } {
  const frames: Frame[] = [];
  return {
    frames,
    lines: () => frames.flatMap(({ lines }) => lines),
    send: (frame) => void frames.push(JSON.parse(/data: (.*)/.exec(frame)?.[1] ?? '')),
    end() {},
    hasEnded: false,
  };
}

async function deliver(): Promise<void> {
  const dispatcher = startDelivering(app, noReceiver, { replies: PACKAGED, trace });
  await spool.settled();
  await dispatcher.stop(30_000);
}

/** Lets time pass until something holds: frames are sent by the clock. */
const until = (holds: () => boolean) =>
  waitUntil(async () => {
    await clock.advance(250);
    return holds();
  });

test('everybody who watches a site gets the lines and the outcome by one trace, which ends with the last of them', async () => {
  const traces = createTraces(clock);
  const [first, second] = [keepFrames(), keepFrames()];
  const topic = topicOf('mx.one.example');
  for (const stream of [first, second]) traces.add(stream, [topic]);
  await waitUntil(() => trace.watchers === 1);
  const id = await spool.accept('bob@one.example', { subject: 'A secret subject', text: 'A secret body' });
  await deliver();
  await until(() => [first, second].every((one) => one.lines().some(({ type }) => type === 'deferred')));
  const lines = first.lines();
  assert.ok(lines.every(({ emailId }) => emailId === id));
  const types = new Set(lines.map(({ type }) => type));
  assert.deepEqual([...types].sort(), ['deferred', 'note', 'received', 'sent']);
  const outcome = lines.find(({ type }) => type === 'deferred');
  assert.deepEqual(
    [outcome?.to, outcome?.from, outcome?.reply],
    ['bob@one.example', 'mx.one.example', '450 4.2.0 later'],
  );
  const positions = lines.map(({ position }) => position);
  assert.deepEqual(
    positions,
    [...new Set(positions)].sort((a, b) => a - b),
  );
  assert.doesNotMatch(JSON.stringify(first.frames), /secret/);
  traces.remove(first, [topic]);
  assert.equal(trace.watchers, 1);
  traces.remove(second, [topic]);
  await waitUntil(() => !trace.isWatched);
});

test('a busy site has at most twenty lines in a second, the newest, and the others are counted', async () => {
  const traces = createTraces(clock);
  const stream = keepFrames();
  traces.add(stream, [topicOf('mx.one.example')]);
  await waitUntil(() => trace.watchers === 1);
  await spool.acceptMany(10, 'one.example');
  const before = stream.frames.length;
  await deliver();
  await until(() => stream.frames.length > before);
  const [frame] = stream.frames.slice(before);
  assert.equal(frame?.lines.length, 20);
  assert.ok((frame?.omitted ?? 0) > 20, String(frame?.omitted));
  assert.equal(frame?.lines.at(-1)?.type, 'deferred');
  traces.remove(stream, [topicOf('mx.one.example')]);
  await waitUntil(() => !trace.isWatched);
});

test('who comes when eight sites are watched is told so, and gets a place once there is one', async () => {
  const traces = createTraces(clock);
  const others = Array.from({ length: 8 }, (_, index) => topicOf(`mx${index}.other.example`));
  const [watching, waiting] = [keepFrames(), keepFrames()];
  traces.add(watching, others);
  await waitUntil(() => trace.watchers === 8);
  const topic = topicOf('mx.one.example');
  traces.add(waiting, [topic]);
  await until(() => waiting.lines().some(({ type }) => type === 'busy'));
  traces.remove(watching, others);
  await until(() => trace.watchers === 1);
  traces.remove(waiting, [topic]);
  await waitUntil(() => !trace.isWatched);
});

test('a trace that nobody waits for any more ends although it has not begun', async () => {
  const traces = createTraces(clock);
  const topic = topicOf('mx.one.example');
  const stream = keepFrames();
  traces.add(stream, [topic]);
  traces.remove(stream, [topic]);
  await waitUntil(async () => {
    await clock.advance(10_000);
    return !trace.isWatched;
  });
});

test('the attempts at a site are for operators alone', async () => {
  const ask = async (person: Parameters<typeof logIn>[1], topic: string) => {
    const cookie = (await logIn(spool, person)).cookie();
    const stream = await openEventStream(spool, `/live?${new URLSearchParams({ topic })}`, { cookie });
    stream.close();
    return stream.status;
  };
  assert.equal(await ask({ isOperator: true, tenantId: null }, '/operator/trace/mx.one.example'), 200);
  for (const topic of ['/operator/trace/mx.one.example', '/t/default/live/trace/mx.one.example'])
    assert.equal(await ask({}, topic), 404, topic);
});
