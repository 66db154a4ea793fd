import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { PortStream } from '../../../src/system/thread/port-stream.ts';
import { StreamPort } from '../../../src/system/thread/streams.ts';
import { waitUntil, waitUntilAtRest } from '../../support/wait-until.ts';

const KIB = 1024;
/** Octets on the way and in the buffers of both streams. */
const MAX_HELD_BYTES = 512 * KIB;

function openPorts(t: TestContext) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  return { near: new StreamPort(port1), far: new StreamPort(port2), port2 };
}

/** Opens a stream between two ports. `notes` are those of either end. */
function openStream(t: TestContext, ports = openPorts(t)) {
  const notes: unknown[] = [];
  const near = new PortStream(ports.near, 7, (note) => notes.push(note));
  const far = new PortStream(ports.far, 7, (note) => notes.push(note));
  return { ...ports, near, far, notes };
}

test('octets cross in both directions, with notes in their order, up to the end of each', async (t) => {
  const { near, far, notes } = openStream(t);
  near.write('hello ');
  near.postNote({ kind: 'greeting' });
  near.end('there');
  const received: string[] = [];
  for await (const octets of far) received.push(`${octets}${notes.length}`);
  assert.deepEqual(received, ['hello 0', 'there1']);
  far.end('bye');
  assert.equal(String(await once(near, 'data')), 'bye');
  await once(near, 'close');
  assert.ok(far.destroyed);
});

test('short and long octets arrive in their order, and what shares its memory stays with the sender', async (t) => {
  const { near, far } = openStream(t);
  const shared = Buffer.alloc(64 * KIB, 'shared');
  const pieces = () => [
    Buffer.from('a'),
    Buffer.alloc(32 * KIB, 'own'),
    shared.subarray(1),
    Buffer.from('z'),
  ];
  near.cork();
  for (const piece of pieces()) near.write(piece);
  near.end();
  const received: Buffer[] = [];
  for await (const octets of far) received.push(octets as Buffer);
  assert.ok(Buffer.concat(received).equals(Buffer.concat(pieces())));
  assert.equal(shared.length, 64 * KIB);
});

test('streams of one port do not disturb each other', async (t) => {
  const ports = openPorts(t);
  const streams = [1, 2].map((number) => ({
    near: new PortStream(ports.near, number, () => {}),
    far: new PortStream(ports.far, number, () => {}),
  }));
  for (const [index, { near }] of streams.entries()) near.write(`${index}`);
  for (const [index, { far }] of streams.entries()) assert.equal(String(await once(far, 'data')), `${index}`);
  streams[0]?.near.destroy();
  await once(streams[0]?.far ?? assert.fail(), 'close');
  streams[1]?.near.write('more');
  assert.equal(String(await once(streams[1]?.far ?? assert.fail(), 'data')), 'more');
});

test('a reader that stops stops its writer, in either direction, and gets all of it later', async (t) => {
  for (const direction of ['there', 'back']) {
    const { near, far } = openStream(t);
    const [writer, reader] = direction === 'there' ? [near, far] : [far, near];
    const sentBytes = 4 * KIB * KIB;
    let written = 0;
    const write = (): void => {
      while (written < sentBytes) {
        written += 16 * KIB;
        if (!writer.write(Buffer.alloc(16 * KIB, 'x'))) return void writer.once('drain', write);
      }
      writer.end();
    };
    write();
    await waitUntilAtRest(() => written);
    assert.ok(written <= MAX_HELD_BYTES, `${written}`);
    let read = 0;
    for await (const octets of reader) read += (octets as Buffer).length;
    assert.equal(read, sentBytes);
  }
});

test('many small pieces fill a stream as few large ones do, also while they wait for a reader', async (t) => {
  const { near, far } = openPorts(t);
  let drained = 0;
  const nobody = { onOctets() {}, onNote() {}, onEnded() {}, onClosed() {} };
  const writer = near.open(7, { ...nobody, onDrained: () => drained++ });
  const reader = new PortStream(far, 7, () => {});
  let pieces = 1;
  while (writer.send([Buffer.of(0)])) pieces++;
  assert.ok(pieces <= 256, `${pieces}`);
  await waitUntilAtRest(() => reader.readableLength);
  assert.deepEqual([reader.readableLength, drained], [pieces, 0]);
  reader.resume();
  await waitUntil(() => drained === 1);
});

test('an end that was closed is told from one that was lost', async (t) => {
  const { near, far, port2 } = openPorts(t);
  const closings: boolean[] = [];
  const owner = {
    ...{ onOctets() {}, onDrained() {}, onNote() {}, onEnded() {} },
    onClosed: (isLost: boolean) => void closings.push(isLost),
  };
  for (const number of [1, 2]) near.open(number, owner);
  new PortStream(far, 1, () => {}).destroy();
  await waitUntil(() => closings.length === 1);
  port2.close();
  await waitUntil(() => closings.length === 2);
  assert.deepEqual(closings, [false, true]);
});

test('a stream that was closed before the other thread opened it closes there, too', async (t) => {
  const ports = openPorts(t);
  new PortStream(ports.near, 7, () => {}).destroy();
  const late = new PortStream(ports.far, 7, () => {});
  late.write('x');
  await once(late, 'close');
  assert.ok(late.destroyed);
});

test('the end of the other thread closes all streams, and those that are opened later', async (t) => {
  const ports = openPorts(t);
  const { near, far } = openStream(t, ports);
  ports.port2.close();
  await Promise.all([once(near, 'close'), once(far, 'close')]);
  assert.equal(ports.near.isOpen, false);
  await once(new PortStream(ports.near, 8, () => {}), 'close');
});
