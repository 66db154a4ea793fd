/** Chains that we seal are validated by mailauth and by our own validator. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { authenticate, sealMessage as sealByMailauth } from 'mailauth';
import { type Sealing, sealMessage } from '../../src/mail/arc.ts';
import { createBodyHash } from '../../src/mail/dkim/body-hash.ts';
import type { DkimKey } from '../../src/mail/dkim/sign.ts';
import { createTestAuthenticator } from '../support/authenticator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';
import { zoneDns } from '../support/zone-dns.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const RECORD = `v=DKIM1; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const DOMAINS = ['one.example', 'two.example', 'three.example'] as const;
const ZONE = DOMAINS.map((domain) => `arc._domainkey.${domain} TXT "${RECORD}"`).join('\n');
const BODY = 'Hello \t there\r\n\r\nä\r\n\r\n';
const HEADER =
  'Received: from a by b; Tue, 24 Nov 2026 10:00:00 +0000\r\nDKIM-Signature: v=1; d=a.example\r\n' +
  'From: <a@bank.example>\r\nTo: b@example.net,\r\n\tc@example.net\r\nSubject:  Hi   there\r\nTo: d@example.net\r\n\r\n';

const keyOf = (domain: string): DkimKey => ({
  ...{ domain, selector: 'arc', algorithm: 'rsa-sha256', privateKey },
});

/** Returns the new set. */
async function setFor(message: string, domain: string, chain: Sealing['chain']): Promise<string> {
  const end = message.indexOf('\r\n\r\n') + 4;
  const body = createBodyHash();
  body.update(Buffer.from(message.slice(end), 'latin1'));
  const results = ` mx.${domain};\r\n dmarc=pass header.from=bank.example;\r\n spf=fail smtp.mailfrom=x.example\r\n`;
  const header = Buffer.from(message.slice(0, end), 'latin1');
  return sealMessage({ header, bodyHash: body.digest(), results, chain }, keyOf(domain), 1_800_000_000);
}

async function seal(message: string, domain: string, chain: Sealing['chain']): Promise<string> {
  return (await setFor(message, domain, chain)) + message;
}

const dns = zoneDns(ZONE);

/** Returns the results of mailauth and of our own validator. */
async function validate(message: string): Promise<string[]> {
  const { arc } = await authenticate(Buffer.from(message, 'latin1'), {
    ...{ ip: '192.0.2.1', helo: 'localhost', sender: 'a@bank.example', mta: 'mx.example.net' },
    resolver: async (name: string) => {
      const answer = await dns.txt(name);
      if (answer.kind === 'found') return answer.records.map((record) => [record]);
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    },
  });
  const authenticator = createTestAuthenticator({ dns, clock: createFakeClock(0), log: recordLog().log });
  const input = {
    owner: 'a',
    address: '192.0.2.1',
    helo: 'localhost',
    sender: '',
    hostname: 'mx.example.net',
  };
  const ours = authenticator.begin(input);
  ours.write(Buffer.from(message, 'latin1'));
  return [arc ? arc.status.result : 'none', (await ours.finish()).arc.result];
}

test('a chain over three hops passes, of our seals alone and together with those of another program', async () => {
  let message = HEADER + BODY;
  for (const [index, domain] of DOMAINS.entries()) {
    message = await seal(message, domain, index === 0 ? 'none' : 'pass');
    assert.deepEqual(await validate(message), ['pass', 'pass'], domain);
  }
  assert.match(
    message,
    /^ARC-Seal: i=3; a=rsa-sha256; cv=pass;\r\n d=three\.example; s=arc; t=1800000000;\r\n b=/,
  );
  assert.ok(message.endsWith(HEADER + BODY), 'nothing else is changed');
  const options = { signingDomain: 'two.example', selector: 'arc', privateKey: PEM, cv: 'pass' } as const;
  const ours = await seal(HEADER + BODY, 'one.example', 'none');
  const authResults = 'mx.two.example; dmarc=pass';
  const theirs = (await sealByMailauth(Buffer.from(ours, 'latin1'), { ...options, authResults })).toString(
    'latin1',
  );
  assert.deepEqual(await validate(await seal(theirs + ours, 'three.example', 'pass')), ['pass', 'pass']);
});

test('a change of what a seal covers is noticed, and fields that every hop adds change nothing', async () => {
  const message = await seal(await seal(HEADER + BODY, 'one.example', 'none'), 'two.example', 'pass');
  for (const [from, to] of [
    ['Hello', 'Bye'],
    ['Hi   there', 'Hi here'],
    ['d@example.net', 'e@example.net'],
    ['d=a.example', 'd=b.example'],
    ['dmarc=pass', 'dmarc=fail'],
  ] as const)
    assert.deepEqual(await validate(message.replace(from, to)), ['fail', 'fail'], from);
  const hop = 'Return-Path: <x@y.example>\r\nReceived: from c by d; Tue, 24 Nov 2026 10:00:01 +0000\r\n';
  assert.deepEqual(await validate(hop + message.replace('Hi   there', 'Hi there')), ['pass', 'pass']);
});

test('the set for a chain that has failed says so, covers itself alone, and is the last one', async () => {
  const first = await seal(HEADER + BODY, 'one.example', 'none');
  const failed = await seal(first.replace('Hello', 'Bye'), 'two.example', 'fail');
  assert.match(failed, /^ARC-Seal: i=2; a=rsa-sha256; cv=fail;/);
  assert.deepEqual(await validate(failed), ['fail', 'fail']);
  assert.equal(await setFor(failed, 'three.example', 'fail'), '');
  const [arcSeal = '', ...set] = failed.split(/\r\n(?![ \t])/).slice(0, 3);
  const relaxed = [set[1] ?? '', set[0] ?? '', arcSeal.replace(/b=[^;]*$/s, 'b=')].map((field) => {
    const [name = '', ...rest] = field.split(':');
    const value = rest
      .join(':')
      .replaceAll('\r\n', '')
      .replace(/[ \t]+/g, ' ')
      .trim();
    return `${name.toLowerCase()}:${value}`;
  });
  const signature = Buffer.from(/b=([^;]*)$/s.exec(arcSeal)?.[1]?.replace(/\s/g, '') ?? '', 'base64');
  assert.ok(verify('sha256', Buffer.from(relaxed.join('\r\n'), 'latin1'), publicKey, signature));
});

test('the instance follows the highest one there is, and a chain that cannot be read has failed', async () => {
  const one = await seal(HEADER + BODY, 'one.example', 'none');
  const stray = 'ARC-Authentication-Results: (x) i = 7 ; mx; spf=pass\r\n';
  assert.match(await setFor(stray + one, 'two.example', 'pass'), /^ARC-Seal: i=8; a=rsa-sha256; cv=fail;/);
  for (const damaged of [
    one.replace(/^ARC-Seal:/m, 'X-Seal:'),
    `${one.slice(0, one.indexOf('ARC-Message'))}${one}`,
  ])
    assert.match(await setFor(damaged, 'two.example', 'pass'), /^ARC-Seal: i=2; a=rsa-sha256; cv=fail;/);
  assert.match(await setFor(HEADER + BODY, 'one.example', 'pass'), /^ARC-Seal: i=1; a=rsa-sha256; cv=none;/);
});

test('no message gets more than 50 sets', async () => {
  const stray = (instance: number) => `ARC-Authentication-Results: i=${instance}; mx; spf=pass\r\n`;
  assert.match(await setFor(stray(49) + HEADER + BODY, 'one.example', 'fail'), /^ARC-Seal: i=50;/);
  for (const instance of [50, 51, 99])
    assert.equal(await setFor(stray(instance) + HEADER + BODY, 'one.example', 'fail'), '');
});

test('the same message, key and second give the same set', async () => {
  const one = await setFor(HEADER + BODY, 'one.example', 'none');
  assert.equal(await setFor(HEADER + BODY, 'one.example', 'none'), one);
});
