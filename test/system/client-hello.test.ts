import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { awaitClientHello, findClientHello } from '../../src/system/client-hello.ts';

const findServerName = (bytes: Buffer) => findClientHello(bytes)?.serverName;

/** Both ends of a connection. */
async function openPair(t: TestContext): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await accepted) as [Socket];
  for (const socket of [near, far]) socket.on('error', () => {});
  t.after(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return { near, far };
}

/** The hello of Node's own client. */
async function helloOf(t: TestContext, options: ConnectionOptions): Promise<Buffer> {
  const { near, far } = await openPair(t);
  const client = connectTls({ socket: near, ...options });
  client.on('error', () => {});
  const [bytes] = (await once(far, 'data')) as [Buffer];
  client.destroy();
  assert.equal(bytes.length, 5 + bytes.readUInt16BE(3), 'the record is whole');
  return bytes;
}

/** Spreads the message of one record over records of at most `size` bytes. */
function splitRecord(record: Buffer, size: number): Buffer {
  const message = record.subarray(5);
  const records: Buffer[] = [];
  for (let offset = 0; offset < message.length; offset += size) {
    const fragment = message.subarray(offset, offset + size);
    const header = Buffer.of(22, 3, 1, 0, 0);
    header.writeUInt16BE(fragment.length, 3);
    records.push(header, fragment);
  }
  return Buffer.concat(records);
}

test('the name is found once the hello is whole, in one record or in many', async (t) => {
  const hello = await helloOf(t, { servername: 'mx.example.net' });
  for (const bytes of [hello, splitRecord(hello, 50), splitRecord(hello, 3)]) {
    assert.equal(findServerName(bytes), 'mx.example.net');
    for (let length = 0; length < bytes.length; length += 1)
      assert.equal(findServerName(bytes.subarray(0, length)), undefined, `${length} bytes`);
    assert.equal(findServerName(Buffer.concat([bytes, Buffer.from('early data')])), 'mx.example.net');
  }
});

test('the protocols are those that the client offers, in its order', async (t) => {
  const hello = await helloOf(t, { servername: 'mx.example.net', ALPNProtocols: ['h2', 'acme-tls/1'] });
  assert.deepEqual(findClientHello(hello), {
    serverName: 'mx.example.net',
    protocols: ['h2', 'acme-tls/1'],
  });
  assert.deepEqual(findClientHello(await helloOf(t, {}))?.protocols, []);
});

test('a hello without a name, plaintext and endless bytes have none', async (t) => {
  assert.equal(findServerName(await helloOf(t, {})), '');
  assert.equal(findServerName(Buffer.from('E')), '');
  assert.equal(findServerName(Buffer.from('EHLO a.example\r\n')), '');
  assert.equal(findServerName(Buffer.of(22, 3, 1, 0, 4, 2, 0, 0, 0)), '', 'a hello of a server');
  const endless = splitRecord(
    Buffer.concat([Buffer.of(22, 3, 1, 0, 0, 1, 255, 255, 255), Buffer.alloc(20_000)]),
    9_000,
  );
  assert.equal(findServerName(endless.subarray(0, 16_383)), undefined);
  assert.equal(findServerName(endless.subarray(0, 16_384)), '');
});

test('a hello with any byte changed never throws', async (t) => {
  const hello = await helloOf(t, { servername: 'mx.example.net' });
  const answers = new Set<string | undefined>();
  for (let index = 0; index < hello.length; index += 1) {
    for (const value of [0, 1, 127, 255]) {
      const changed = Buffer.from(hello);
      changed[index] = value;
      answers.add(findServerName(changed));
    }
  }
  assert.ok(answers.has('mx.example.net') && answers.has('') && answers.has(undefined));
});

test('the bytes are left for the handshake, and a connection that ends before them is an error', async (t) => {
  const { near, far } = await openPair(t);
  near.write('EHLO');
  assert.equal((await awaitClientHello(far)).serverName, '');
  assert.equal(far.read().toString(), 'EHLO');
  for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const { near: client, far: server } = await openPair(t);
    const name = awaitClientHello(server);
    end(client);
    await assert.rejects(name, /closed during the TLS handshake|ECONNRESET/);
    assert.equal(server.destroyed, true);
    await assert.rejects(awaitClientHello(server), 'a closed connection is refused at once');
  }
});
