import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { HostStore } from '../../src/objects/host-store.ts';
import { openStore } from '../../src/objects/open-store.ts';
import { realClock } from '../../src/system/clock.ts';
import { clientOf, fileOf, startObjectHost } from '../standby/server/object-host.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { readWhole, testContract } from './contract.ts';

testContract('host', async (context) => {
  const host = await startObjectHost(context);
  return {
    store: clientOf(context, host),
    seed(name, bytes) {
      mkdirSync(dirname(fileOf(host, name)), { recursive: true });
      writeFileSync(fileOf(host, name), bytes);
    },
  };
});

const BODY = { bytes: Buffer.from('x') };
const SYSTEM = { clock: realClock, dns: zoneDns('') };

test('mistakes of the operator are refused in sentences', async (context) => {
  const host = await startObjectHost(context);
  for (const [change, message] of [
    [{ token: `${host.token}x` }, /does not know the token/],
    [
      { pin: `sha256//${'A'.repeat(43)}=` },
      /the key of 127.0.0.1 is not the pinned one: its pin is sha256\/\//,
    ],
    [{ pin: undefined }, /the certificate of 127.0.0.1:\d+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
  ] as const) {
    const store = clientOf(context, host, change);
    for (const attempt of [
      () => store.put('a1/b', { bytes: Buffer.alloc(2 * 1024 * 1024) }),
      () => store.create('a1/b', BODY.bytes),
      () => store.get('a1/b'),
      () => store.list('a1/'),
      () => store.remove('a1/b'),
    ])
      await assert.rejects(attempt, { name: 'StoreError', kind: 'refused', message });
  }
  assert.deepEqual(await clientOf(context, host).list(''), []);
});

test('a host that is away is unreachable, and its client works again once it is back', async (context) => {
  const folder = (await startObjectHost(context)).folder;
  const host = await startObjectHost(context, { folder });
  const store = clientOf(context, host);
  await store.put('a1/b', BODY);
  await host.close();
  await assert.rejects(store.put('a1/b', BODY), {
    kind: 'unreachable',
    message: /no program listens on port/,
  });
  const [, port] = /:(\d+)$/.exec(host.address) ?? [];
  await startObjectHost(context, { folder, at: { address: '127.0.0.1', port: Number(port) } });
  assert.equal(String(await readWhole(store, 'a1/b')), 'x');
  renameSync(host.objects, `${host.objects}-away`);
  await assert.rejects(store.put('a1/b', BODY), {
    kind: 'unreachable',
    message: /cannot use its folder now/,
  });
  const nowhere = new HostStore(SYSTEM, { url: 'https://nowhere.example:8465', token: 'abc' });
  context.after(() => nowhere.close());
  await assert.rejects(nowhere.list(''), { kind: 'unreachable', message: /nowhere.example has no address/ });
});

test('a full disk is refused, and so is one below its reserve', async (context) => {
  for (const [freeBytes, reserveBytes] of [
    [1, 0],
    [1024 * 1024, 2 * 1024 * 1024],
  ] as const) {
    const disk = async () => ({ freeBytes, totalBytes: 1024 ** 4 });
    const store = clientOf(context, await startObjectHost(context, { disk, reserveBytes }));
    const body = { bytes: Buffer.alloc(1024 * 1024) };
    await assert.rejects(store.put('a1/b', body), {
      kind: 'refused',
      message: /the disk of 127.0.0.1:\d+ is full/,
    });
    await assert.rejects(store.create('a1/b', body.bytes), { kind: 'refused', message: /below its reserve/ });
    assert.deepEqual(await store.list(''), []);
    await store.remove('a1/b');
  }
});

test('a server that is no receiving host, or answers without end, is refused', async (context) => {
  // Whoever reads page after page would never come to an end of these.
  const repeated = ['{"names":["a/b","a/b"]}', '{"names":["b/c"]}', '{"names":["a/../b"]}'];
  const answers = [...repeated, '[]', '{"names":[1]}', 'x'.repeat(2 * 1024 * 1024)];
  const server = createServer((_request, response) => void response.end(answers.shift()));
  const port = await listenOnLoopback(server);
  context.after(() => server.close());
  const store = new HostStore(SYSTEM, { url: `http://127.0.0.1:${port}`, token: 'abc' });
  context.after(() => store.close());
  const wrong = { kind: 'refused', message: /is no server of "postrider standby serve"/ };
  for (const [prefix, after] of [
    ['', ''],
    ['a/', ''],
    ['', ''],
  ] as const)
    await assert.rejects(store.list(prefix, after), wrong);
  await assert.rejects(store.list(''), wrong);
  await assert.rejects(store.list(''), wrong);
  await assert.rejects(store.list(''), { kind: 'refused', message: /more than 1048576 bytes/ });
  await assert.rejects(store.put('a1/b', BODY), { kind: 'refused', message: /answered with status 200/ });
});

test('a store is opened by the URL of its host', async (context) => {
  const { url, token, pin } = await startObjectHost(context);
  const store = openStore(SYSTEM, { url, token, pin });
  context.after(() => store.close());
  await store.put('a1/b', BODY);
  assert.deepEqual(await store.list(''), ['a1/b']);
});
