import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { DueQueue } from '../../../src/queue/due-store.ts';
import { connectPlaces, PortPeers } from '../../../src/queue/thread/peers.ts';
import { waitUntil } from '../../support/wait-until.ts';

const opened: PortPeers[] = [];
after(() => {
  for (const peers of opened) peers.close();
});

/** Names a queue, and says whether a retry is due there. */
const named = ({ key, hasRetries }: DueQueue): string => (hasRetries ? `${key}, retries` : key);
const due = (key: string, hasRetries = false): DueQueue => ({ key, hasRetries });

function openPeers(count: number) {
  const peers = connectPlaces(count).map((place) => new PortPeers(place));
  opened.push(...peers);
  const taken = peers.map((one) => {
    const batches: string[][] = [];
    one.listen((queues) => void batches.push(queues.map(named)));
    return batches;
  });
  return { peers, taken };
}

test('each thread reaches each other one, and the queues of one turn travel together, each once', async () => {
  const { peers, taken } = openPeers(3);
  assert.deepEqual(
    peers.map(({ share }) => share),
    [0, 1, 2].map((index) => ({ index, count: 3 })),
  );
  for (const queue of [due('a'), due('b', true), due('a'), due('b')]) peers[0]?.send(1, queue);
  peers[2]?.send(1, due('c'));
  peers[1]?.send(2, due('d'));
  await waitUntil(() => taken.flat(2).length === 4, 'all queues have arrived');
  assert.deepEqual(taken[0], []);
  assert.deepEqual(taken[1]?.toSorted(), [['a', 'b, retries'], ['c']]);
  assert.deepEqual(taken[2], [['d']]);
});

test('queues are sent on until their number reaches its maximum, and what is sent to a thread that has ended is lost', async () => {
  const { peers, taken } = openPeers(2);
  for (let index = 0; index < 100_010; index++) peers[0]?.send(1, due(`q${index}`));
  await waitUntil(() => taken[1]?.length === 1, 'they have arrived');
  assert.equal(taken[1]?.[0]?.length, 100_000);
  peers[0]?.send(1, due('later'));
  await waitUntil(() => taken[1]?.length === 2, 'the next one has arrived');
  peers[1]?.close();
  peers[0]?.send(1, due('lost'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(taken[1]?.length, 2);
});
