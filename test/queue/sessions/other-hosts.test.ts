/** Tests of mail that goes to another host of its site, because the first one cannot take it. One spool serves all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import type { Hosts } from '../../support/loopback.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));

/** Starts a server with these extensions at the address, and lists its MAIL commands. */
async function startHost(address: string, extensions: readonly string[]) {
  const senders: string[] = [];
  const ehlo = ['mx.example', ...extensions].map(
    (line, index) => `250${index < extensions.length ? '-' : ' '}${line}`,
  );
  const server = closing(
    await startCommandServer((line) => {
      if (line.startsWith('MAIL')) senders.push(line);
      return line.startsWith('EHLO') ? ehlo.join('\r\n') : acceptEverything(line);
    }),
  );
  hosts[address] = server.port;
  return senders;
}

test('mail in UTF-8 goes to another host of the site before it bounces, and other mail to the first host', async () => {
  spool.addZone(`
    utf8.example MX 10 mx1.utf8.example
    utf8.example MX 20 mx2.utf8.example
    mx1.utf8.example A 192.0.2.1
    mx2.utf8.example A 192.0.2.2
  `);
  const first = await startHost('192.0.2.1', ['8BITMIME']);
  const second = await startHost('192.0.2.2', ['8BITMIME', 'SMTPUTF8']);
  const id = await spool.accept('büb@utf8.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(id)).status, 'delivered');
  assert.deepEqual([first.length, second.length], [0, 1]);
  assert.match(second[0] ?? '', / SMTPUTF8/);
  const plain = await spool.accept('bob@utf8.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(plain)).mx, 'mx1.utf8.example');
});

test('mail in UTF-8 bounces where no host takes it, with a status that says so', async () => {
  spool.addZone('ascii.example A 192.0.2.3');
  const senders = await startHost('192.0.2.3', ['8BITMIME']);
  const id = await spool.accept('büb@ascii.example');
  await spool.deliverDue();
  const { status, enhancedCode } = await spool.recipient(id);
  assert.deepEqual([status, enhancedCode, senders], ['bounced', '5.6.7', []]);
});
