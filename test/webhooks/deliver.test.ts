import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { shareWorld, until } from './webhook-world.ts';

const inWorld = shareWorld();

const NOTATIONS = [
  'http://127.0.0.1:PORT/',
  'http://127.1:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f.1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://localhost:PORT/',
];

/** Whether a post to `url` arrives, with the real guard, and what the delivery says if not. */
async function postFor(
  urlWithPort: string,
  allow: string[],
): Promise<{ arrived: number; error: string | null }> {
  let arrived = 0;
  const receiver = createServer((_request, response) => {
    arrived += 1;
    response.end();
  });
  receiver.on('connection', () => {
    arrived += 100;
  });
  const url = urlWithPort.replace('PORT', String(await listenOnLoopback(receiver)));
  let error: string | null = null;
  await inWorld(async (world) => {
    world.knobs.fetch = createFetch(createTargetGuard({ allow, own: [] }), zoneDns(''));
    await world.begin({ url });
    await until(world, 'the post has ended', async () => {
      const row = (await world.deliveries())[0];
      error = row?.error ?? null;
      return row !== undefined && (row.state === 'delivered' || row.error !== null);
    });
  });
  receiver.closeAllConnections();
  receiver.close();
  return { arrived, error };
}

for (const url of NOTATIONS) {
  test(`a webhook to this machine is not posted, spelt ${url}`, async () => {
    const { arrived, error } = await postFor(url, []);
    assert.match(error ?? '', / has no public address$/);
    assert.equal(arrived, 0, 'not even a connection');
  });
}

test('a webhook to this machine is posted when the operator allows it', async () => {
  assert.deepEqual(await postFor('http://0x7f.1:PORT/', ['127.0.0.0/8']), { arrived: 101, error: null });
});
