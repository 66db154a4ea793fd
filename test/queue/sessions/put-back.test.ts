/** Tests of the recipients that a session puts back for another transaction. Each test has a domain of its own in one spool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import type { Hosts } from '../../support/loopback.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));

/** Starts a server at the address. `seen` lists the recipients of its RCPT commands, and a dot for each message. */
async function startHost(
  address: string,
  answer: (line: string, seen: readonly string[], reply: (text: string) => void) => string | undefined,
) {
  const seen: string[] = [];
  const server = closing(
    await startCommandServer((line, socket) => {
      if (line.startsWith('RCPT')) seen.push(line.slice('RCPT TO:<'.length, line.indexOf('@')));
      if (line === '.') seen.push('.');
      return answer(line, seen, (text) => socket.write(`${text}\r\n`));
    }),
  );
  hosts[address] = server.port;
  return { seen, connections: server.connections };
}

for (const [reply, address] of [
  ['452 4.5.3 try fewer', '192.0.2.1'],
  ['452 Too many recipients', '192.0.2.2'],
  ['552 5.5.3 Too many recipients', '192.0.2.3'],
] as const) {
  test(`"${reply}" for later recipients continues at once in a new transaction on the same connection`, async () => {
    const domain = `many${address.at(-1)}.example`;
    spool.addZone(`${domain} A ${address}`);
    const host = await startHost(address, (line, seen) => {
      const isThird = seen.length - seen.lastIndexOf('.') > 3;
      return line.startsWith('RCPT') && isThird ? reply : acceptEverything(line);
    });
    const id = await spool.accept(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@${domain}`));
    await spool.deliverDue();
    const { recipients } = await spool.email(id);
    assert.deepEqual(
      recipients.map(({ status, attempts }: { status: string; attempts: number }) => [status, attempts]),
      Array(5).fill(['delivered', 1]),
    );
    assert.equal(host.seen.join(''), 'abcde.cde.e.');
    assert.equal(host.connections(), 1);
  });
}

test('a server that takes no recipient of a transaction at all gets no second one', async () => {
  spool.addZone('none.example A 192.0.2.4');
  const host = await startHost('192.0.2.4', (line) =>
    line.startsWith('RCPT') ? '452 4.5.3 Too many recipients' : acceptEverything(line),
  );
  const id = await spool.accept(['a@none.example', 'b@none.example']);
  await spool.deliverDue();
  const { recipients } = await spool.email(id);
  assert.deepEqual(
    recipients.map(({ status }: { status: string }) => status),
    ['deferred', 'deferred'],
  );
  assert.deepEqual(host.seen, ['a', 'b']);
});

test('a delivery that breaks off goes to another host, although a session with the first one is open', async () => {
  spool.addZone(`
    fickle.example MX 10 mx1.fickle.example
    fickle.example MX 20 mx2.fickle.example
    mx1.fickle.example A 192.0.2.5
    mx2.fickle.example A 192.0.2.6
  `);
  /** The answers to the first two messages, which end when both connections are open. */
  const waiting: ((text: string) => void)[] = [];
  const first = await startHost('192.0.2.5', (line, seen, reply) => {
    if (line.startsWith('RCPT') && seen.at(-1) === 'poison') return undefined;
    if (line !== '.') return acceptEverything(line);
    waiting.push(reply);
    return '';
  });
  const second = await startHost('192.0.2.6', acceptEverything);
  const usual = [await spool.accept('a@fickle.example'), await spool.accept('b@fickle.example')];
  const delivering = spool.deliverDue();
  await waitUntil(() => waiting.length === 2);
  const id = await spool.accept('poison@fickle.example');
  for (const reply of waiting) reply('250 taken');
  await delivering;
  for (const one of [...usual, id]) assert.equal((await spool.email(one)).status, 'delivered');
  assert.deepEqual(
    first.seen.filter((name) => name === 'poison'),
    ['poison'],
  );
  assert.deepEqual(second.seen, ['poison', '.']);
});
