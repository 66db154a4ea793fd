/** Tests of the second DKIM signature, of the installation, for providers that read it. One spool serves all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { installationKeyOf } from '../../src/domains/installation/key.ts';
import { dkimKeyRecord } from '../../src/mail/dkim/key.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import type { Hosts } from '../support/loopback.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { openRoutedSpool } from './routed-spool.ts';

const OURS = 'mx.postrider.example';
const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));

/** Starts a server at the address, which answers the ends of messages with these replies and then takes everything. */
async function startHost(address: string, replies: string[] = []) {
  const messages: string[] = [];
  let lines: string[] | undefined;
  const server = closing(
    await startCommandServer((line) => {
      if (line === 'DATA') lines = [];
      else if (line === '.' && lines) {
        messages.push(lines.map((one) => `${one}\r\n`).join(''));
        lines = undefined;
        return replies.shift() ?? '250 taken';
      } else if (lines) {
        lines.push(line);
        return '';
      }
      return acceptEverything(line);
    }),
  );
  hosts[address] = server.port;
  return messages;
}

const signersOf = (message = '') =>
  [...message.matchAll(/^DKIM-Signature:.* d=([^;]+);/gm)].map(([, name]) => name);

const google = await startHost('192.0.2.1', ['451 4.3.0 try again']);
const other = await startHost('192.0.2.2');
const mixed = await startHost('192.0.2.3');
spool.addZone(`
  work.example MX 5 aspmx.l.google.com
  work.example MX 5 alt1.aspmx.l.google.com
  aspmx.l.google.com A 192.0.2.1
  alt1.aspmx.l.google.com A 192.0.2.1
  alt2.aspmx.l.google.com A 192.0.2.3
  mixed.example MX 5 alt2.aspmx.l.google.com
  mixed.example MX 10 mx.plain.example
  plain.example MX 5 mx.plain.example
  mx.plain.example A 192.0.2.2
`);
const id = await spool.accept(['bob@work.example', 'eve@plain.example']);
await spool.deliverDue();
await spool.clock.advance(60_000);
await spool.deliverDue();

test('mail to a provider that reads it has a signature of the installation too, and mail elsewhere has not', () => {
  assert.deepEqual(signersOf(google[0]), [OURS, SENDER_DOMAIN]);
  assert.deepEqual(signersOf(other[0]), [SENDER_DOMAIN]);
});

test('a retry has the same signatures octet by octet, whichever site the first attempt went to', async () => {
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.equal(google.length, 2);
  assert.equal(google[1], google[0]);
  assert.equal(google[0]?.slice(google[0].indexOf('DKIM-Signature', 1)), other[0]);
});

test('an independent verifier passes the signature of the installation', async () => {
  const key = await installationKeyOf(spool.app);
  const records = new Map([[`${key.selector}._domainkey.${OURS}`, dkimKeyRecord(key.publicKey)]]);
  const resolver = async (name: string) => [[records.get(name) ?? '']];
  const curTime = new Date(spool.clock.now());
  const message = Buffer.from(google[0] ?? '', 'latin1');
  const { results } = await dkimVerify(message, { resolver, strict: true, curTime } as never);
  const found = results.map(({ signingDomain, status }) => [signingDomain, status?.result]);
  assert.deepEqual(
    found.filter(([domain]) => domain === OURS),
    [[OURS, 'pass']],
  );
});

test('hosts of others beside those of the provider get none', async () => {
  await spool.accept('bob@mixed.example');
  await spool.deliverDue();
  assert.deepEqual(signersOf(mixed[0]), [SENDER_DOMAIN]);
});

test('a setting turns the second signature off', async () => {
  const plain = closing(
    await openRoutedSpool(hosts, undefined, { POSTRIDER_DELIVERY_SECOND_SIGNATURE: 'false' }),
  );
  plain.addZone('work.example MX 5 aspmx.l.google.com\naspmx.l.google.com A 192.0.2.1');
  await plain.accept('bob@work.example');
  await plain.deliverDue();
  assert.deepEqual(signersOf(google.at(-1)), [SENDER_DOMAIN]);
});
