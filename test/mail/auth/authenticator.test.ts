import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AUTHENTICATION_TIMEOUT_MS,
  type Authenticator,
  createAuthenticator,
  createBegin,
} from '../../../src/mail/auth/authenticator.ts';
import type { AuthenticationResult } from '../../../src/mail/auth/result.ts';
import { MAX_HEADER_BYTES } from '../../../src/mail/header-limits.ts';
import { createTestAuthenticator } from '../../support/authenticator.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { ed25519TestKey, rsaTestKey, signTestMessage } from '../../support/sign-message.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const RSA = rsaTestKey();
const ED25519 = ed25519TestKey();
const ZONE = `
  example.com                 TXT "v=spf1 ip4:192.0.2.0/24 -all"
  mail.example.com            TXT "v=spf1 ip4:192.0.2.1 -all"
  mail.example.com            A   192.0.2.1
  1.2.0.192.in-addr.arpa      PTR mail.example.com
  local.example               TXT "v=spf1 exists:%{l}._spf.%{d} -all"
  user+tag._spf.local.example A   127.0.0.2
  _dmarc.example.com          TXT "v=DMARC1; p=reject"
  s1._domainkey.example.com   TXT "${RSA.record}"
  s2._domainkey.example.com   TXT "${ED25519.record}"
`;
const CLIENT = {
  owner: '192.0.2.1',
  address: '192.0.2.1',
  helo: 'mail.example.com',
  sender: 'bounce@example.com',
  hostname: 'mx.example.net',
};
const PLAIN = 'From: A <a@example.com>\r\nTo: b@example.net\r\nSubject: Hi\r\n\r\nHello\r\n';
const SIGNED = signTestMessage(signTestMessage(PLAIN, { key: RSA }), {
  key: ED25519,
  selector: 's2',
  canonicalization: 'simple/simple',
});

const testAuthenticator = (zone = ZONE) =>
  createTestAuthenticator({ dns: zoneDns(zone), clock: createFakeClock(0), log: recordLog().log });

async function authenticate(
  authenticator: Authenticator,
  message: string,
  { pieceBytes = message.length, ...client }: Partial<typeof CLIENT> & { pieceBytes?: number } = {},
): Promise<AuthenticationResult> {
  const authentication = authenticator.begin({ ...CLIENT, ...client });
  const bytes = Buffer.from(message, 'latin1');
  for (let at = 0; at < bytes.length; at += pieceBytes)
    authentication.write(bytes.subarray(at, at + pieceBytes));
  return authentication.finish();
}

const short = ({ spf, heloSpf, dkim, dmarc, arc, reverseDns }: AuthenticationResult) =>
  [spf, heloSpf, ...dkim, dmarc, arc, reverseDns].map(({ result }) => result).join(' ');

test('a signed message of a domain passes everything, however its data is cut', async () => {
  for (const pieceBytes of [1, 3, 100, SIGNED.length]) {
    const result = await authenticate(testAuthenticator(), SIGNED, { pieceBytes });
    assert.equal(short(result), 'pass pass pass pass pass none pass', `${pieceBytes}`);
    assert.deepEqual(result.from, { addresses: ['a@example.com'], fields: 1 });
    assert.deepEqual(result.reverseDns, { result: 'pass', name: 'mail.example.com' });
    assert.deepEqual(result.dmarc, {
      ...{ result: 'pass', policy: 'reject', domain: 'example.com', reason: '' },
      ...{ policyDomain: 'example.com', isSpfAligned: true },
    });
    assert.deepEqual(
      result.dkim.map(({ selector, isAligned }) => [selector, isAligned]),
      [
        ['s2', true],
        ['s1', true],
      ],
    );
  }
});

test('messages are authenticated in threads, which ask the given DNS servers', async (t) => {
  const server = await startDnsServer(ZONE);
  t.after(() => server.close());
  const { log } = recordLog();
  const authenticator = createAuthenticator(
    { clock: createFakeClock(0), log },
    { dnsServers: [server.address], trustedRelays: [] },
  );
  t.after(() => authenticator.close());
  const results = await Promise.all(
    Array.from({ length: 20 }, () => authenticate(authenticator, SIGNED, { pieceBytes: 50 })),
  );
  for (const result of results) assert.equal(short(result), 'pass pass pass pass pass none pass');
  // The name that SPF looks up is one that no host has.
  const { spf } = await authenticate(authenticator, PLAIN, { sender: 'user+tag@local.example' });
  assert.equal(spf.result, 'pass');
});

test('a message whose thread ends, or has too many before it, is undecided and never passes', async () => {
  for (const reason of ['died', 'overran', 'crowded', 'threw', 'closed'] as const) {
    const { log, lines } = recordLog();
    const begin = createBegin({ clock: createFakeClock(0), log }, async () => ({
      kind: 'failed',
      reason,
      message: 'as told',
    }));
    const result = await authenticate({ begin, close: async () => {} }, SIGNED);
    assert.equal(short(result), 'temperror temperror temperror none temperror');
    assert.equal(lines.length, 1);
  }
});

test('many messages that cannot be authenticated are logged once a minute, with their number', async () => {
  const clock = createFakeClock(0);
  const { log, lines } = recordLog();
  const begin = createBegin({ clock, log }, async () => ({
    kind: 'failed',
    reason: 'died',
    message: 'as told',
  }));
  const fail = () => authenticate({ begin, close: async () => {} }, PLAIN);
  for (let count = 0; count < 10; count++) await fail();
  await clock.advance(60_000);
  await fail();
  const counts = lines.map(({ count }) => count);
  assert.deepEqual(counts, [1, 10]);
});

test('results that take too long are undecided', async () => {
  const clock = createFakeClock(0);
  const begin = createBegin({ clock, log: recordLog().log }, () => new Promise(() => {}));
  const result = authenticate({ begin, close: async () => {} }, SIGNED);
  await clock.advance(AUTHENTICATION_TIMEOUT_MS);
  assert.equal(short(await result), 'temperror temperror temperror none temperror');
});

test('a DNS that does not answer makes all results temporary errors, within the time', async () => {
  const clock = createFakeClock(0);
  const never = () => new Promise<never>(() => {});
  const dns = {
    mx: never,
    a: never,
    aaaa: never,
    txt: never,
    cname: never,
    ptr: never,
    srv: never,
    tlsa: never,
    caa: never,
  };
  const authenticator = createTestAuthenticator({ dns, clock, log: recordLog().log });
  const result = authenticate(authenticator, SIGNED);
  await clock.advance(AUTHENTICATION_TIMEOUT_MS);
  assert.equal(short(await result), 'temperror temperror temperror temperror temperror none temperror');
});

test('a header that is too long is not kept, and names no author', async () => {
  const message = `X: ${'a'.repeat(MAX_HEADER_BYTES)}\r\n${SIGNED}`;
  for (const pieceBytes of [10_000, message.length]) {
    const result = await authenticate(testAuthenticator(), message, { pieceBytes });
    assert.deepEqual([result.from.fields, result.dmarc.result], [0, 'permerror']);
  }
});

test('the headers of one owner take at most half of the memory for them, and give it back', async () => {
  const authenticator = testAuthenticator();
  const header = Buffer.from(`X: ${'a'.repeat(MAX_HEADER_BYTES - 100)}\r\n`, 'latin1');
  const open = (owner: string) => {
    const authentication = authenticator.begin({ ...CLIENT, owner });
    authentication.write(header);
    return authentication;
  };
  const held = Array.from({ length: 150 }, () => open('a'));
  const refused = await open('a').finish();
  assert.equal(refused.dmarc.reason, 'too many messages are being read');
  const other = authenticator.begin({ ...CLIENT, owner: 'b' });
  other.write(Buffer.from(SIGNED, 'latin1'));
  assert.equal((await other.finish()).dmarc.result, 'pass');
  for (const authentication of held) authentication.abort();
  assert.equal((await authenticate(authenticator, SIGNED, { owner: 'a' })).dmarc.result, 'pass');
});
