/** The cases follow RFC 8617. The chains are made by mailauth. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { sealMessage } from 'mailauth';
import type { ArcOutcome } from '../../../src/mail/auth/result.ts';
import { createTestAuthenticator } from '../../support/authenticator.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const RECORD = `v=DKIM1; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const ZONE = ['one.example', 'two.example', 'three.example']
  .map((domain) => `arc._domainkey.${domain} TXT "${RECORD}"`)
  .join('\n');
const PLAIN = 'From: <a@bank.example>\r\nTo: b@example.net\r\nSubject: Hi\r\n\r\nHello\r\n';

type Seal = { domain: string; dmarc?: string; cv?: 'none' | 'pass' | 'fail'; i?: number };

/** Adds a set to a message. */
async function seal(message: string, { domain, dmarc = 'pass', cv = 'pass', i }: Seal): Promise<string> {
  const authResults = `mx.${domain}; dmarc=${dmarc} header.from=bank.example; spf=fail smtp.mailfrom=x.example`;
  const options = { signingDomain: domain, selector: 'arc', privateKey: PEM, authResults, cv };
  const set = await sealMessage(
    Buffer.from(message, 'latin1'),
    i === undefined ? options : { ...options, i },
  );
  assert.ok(set.length > 0, 'the message was sealed');
  return set.toString('latin1') + message;
}

async function chain(...seals: Seal[]): Promise<string> {
  let message = PLAIN;
  for (const [index, one] of seals.entries())
    message = await seal(message, { cv: index === 0 ? 'none' : 'pass', ...one });
  return message;
}

async function validate(message: string, zone = ZONE): Promise<ArcOutcome> {
  const dns = zoneDns(zone);
  const authenticator = createTestAuthenticator({ dns, clock: createFakeClock(0), log: recordLog().log });
  const authentication = authenticator.begin({
    owner: 'a',
    address: '192.0.2.1',
    helo: 'localhost',
    sender: '',
    hostname: 'mx.example.net',
  });
  authentication.write(Buffer.from(message, 'latin1'));
  return (await authentication.finish()).arc;
}

test('a message without a chain has no result, and asks for no key', async () => {
  assert.deepEqual(await validate(PLAIN), { result: 'none', sets: [], reason: '' });
});

test('a chain passes, and tells who sealed what', async () => {
  const message = await chain({ domain: 'one.example' }, { domain: 'two.example', dmarc: 'fail' });
  assert.deepEqual(await validate(message), {
    result: 'pass',
    sets: [
      { sealer: 'one.example', dmarc: 'pass', authorDomain: 'bank.example' },
      { sealer: 'two.example', dmarc: 'fail', authorDomain: 'bank.example' },
    ],
    reason: '',
  });
});

test('a message that a sealer has changed passes when it was sealed after that', async () => {
  const first = await chain({ domain: 'one.example' });
  const changed = first.replace('Hello', 'Hello from the list');
  assert.equal((await validate(changed)).result, 'fail');
  assert.equal((await validate(await seal(changed, { domain: 'two.example' }))).result, 'pass');
});

test('a chain that is damaged in any way fails, and vouches for nothing', async () => {
  const two = await chain({ domain: 'one.example' }, { domain: 'two.example' });
  const fieldOf = (name: string, i: number) =>
    new RegExp(`^${name}: i=${i};(?:.*\\r\\n[ \\t])*.*\\r\\n`, 'm').exec(two)?.[0] ?? assert.fail(name);
  const without = (name: string, i: number) => two.replace(fieldOf(name, i), '');
  const cases: [string, string][] = [
    ['the body', two.replace('Hello', 'Bye')],
    ['a signed field', two.replace('Subject: Hi', 'Subject: Ho')],
    ['a reported result', two.replace('dmarc=pass', 'dmarc=fail')],
    ['no seal', without('ARC-Seal', 2)],
    ['no signature', without('ARC-Message-Signature', 2)],
    ['no results', without('ARC-Authentication-Results', 2)],
    ['no first seal', without('ARC-Seal', 1)],
    ['a second seal', fieldOf('ARC-Seal', 2) + two],
    ['a gap', two.replaceAll('i=1;', 'i=7;')],
    ['an instance of zero', two.replaceAll('i=1;', 'i=0;')],
    ['an instance of 51', two.replaceAll('i=2;', 'i=51;')],
    ['a failed chain', two.replace('cv=pass', 'cv=fail')],
    ['an unknown chain', two.replace('cv=pass', 'cv=maybe')],
    ['h= in a seal', two.replace('ARC-Seal: i=2;', 'ARC-Seal: i=2; h=from;')],
    ['another domain', two.replaceAll('d=two.example', 'd=three.example')],
    ['a domain with a NUL', two.replaceAll('d=two.example', 'd=two.example\0.x')],
    ['SHA-1', two.replaceAll('a=rsa-sha256', 'a=rsa-sha1')],
  ];
  assert.equal((await validate(two)).result, 'pass');
  for (const [what, message] of cases) {
    const { result, sets } = await validate(message);
    assert.deepEqual([result, sets], ['fail', []], what);
  }
});

test('a chain without a key fails, also when the DNS does not answer', async () => {
  const message = await chain({ domain: 'one.example' });
  assert.equal((await validate(message, '')).result, 'fail');
  const weak = generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey;
  const record = `v=DKIM1; p=${weak.export({ type: 'spki', format: 'der' }).toString('base64')}`;
  assert.equal((await validate(message, `arc._domainkey.one.example TXT "${record}"`)).result, 'fail');
});

test('a chain that is too long to be one fails before any of it is looked at', async () => {
  const message = await chain({ domain: 'one.example' });
  const fields = `ARC-Seal: i=1; cv=none; a=rsa-sha256; d=one.example; s=arc; b=AAAA\r\n`;
  assert.equal((await validate(fields.repeat(200) + message)).reason, 'the chain is too long');
  const large = `ARC-Authentication-Results: i=2; mx; spf=pass (${'x'.repeat(140_000)})\r\n`;
  assert.equal((await validate(large + message)).reason, 'the chain is too long');
});

test('results that claim to be ours are believed only where we have sealed them', async () => {
  const forged = (domain: string, hostname: string) =>
    sealMessage(Buffer.from(PLAIN, 'latin1'), {
      ...{ signingDomain: domain, selector: 'arc', privateKey: PEM, cv: 'none' },
      authResults: `${hostname}; dmarc=pass header.from=bank.example`,
    });
  for (const [domain, hostname, dmarc] of [
    ['one.example', 'mx.example.net', ''],
    ['one.example', '"MX.example.net"', ''],
    ['one.example', '(a; b) mx.example.net', ''],
    ['one.example', 'mx.one.example', 'pass'],
    ['mx.example.net', 'mx.example.net', 'pass'],
  ] as const) {
    const message = (await forged(domain, hostname)).toString('latin1') + PLAIN;
    const { result, sets } = await validate(
      message,
      `${ZONE}\narc._domainkey.mx.example.net TXT "${RECORD}"`,
    );
    assert.deepEqual([result, sets[0]?.dmarc], ['pass', dmarc], hostname);
  }
});
