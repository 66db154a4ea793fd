import assert from 'node:assert/strict';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createBodyHash } from '../../../src/mail/dkim/body-hash.ts';
import { relaxedField } from '../../../src/mail/dkim/canonical.ts';
import { dkimKeyRecord, generateDkimKey, generateEd25519Key } from '../../../src/mail/dkim/key.ts';
import { type DkimKey, signMessage } from '../../../src/mail/dkim/sign.ts';

let key: DkimKey;
let record: string;

before(async () => {
  const generated = await generateDkimKey();
  const privateKey: KeyObject = createPrivateKey(generated.privateKeyPem);
  key = { domain: 'example.com', selector: 'pr1', algorithm: 'rsa-sha256', privateKey };
  record = dkimKeyRecord(generated.publicKeyBase64);
});

async function resultOf(message: Buffer): Promise<string | undefined> {
  const resolver = async (name: string) => {
    assert.equal(name, 'pr1._domainkey.example.com');
    return [[record]];
  };
  const { results } = await dkimVerify(message, {
    resolver,
    strict: true,
    curTime: new Date(1_000_000_000_000),
  } as never);
  return results[0]?.status?.result;
}

function signable(message: Buffer): { header: Buffer; bodyHash: string } {
  const end = message.indexOf('\r\n\r\n');
  const bodyHash = createBodyHash();
  if (end >= 0) bodyHash.update(message.subarray(end + 4));
  return { header: message.subarray(0, end < 0 ? message.length : end + 4), bodyHash: bodyHash.digest() };
}

async function signed(message: Buffer): Promise<Buffer> {
  const field = await signMessage(signable(message), [key], 999_999_999);
  return Buffer.concat([Buffer.from(field, 'latin1'), message]);
}

const HEADER =
  'From: a@example.com\r\nTo: b@example.net\r\nSubject: Hello\r\nDate: Fri, 20 Nov 2026 10:30:00 +0000\r\n';
const bodyText = fc
  .array(fc.constantFrom('a', 'word', ' ', '\t', '  ', '\r\n', '\r\n\r\n', '.', 'é', '=20', ' \r\n'), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''));

test('an independent verifier passes every signed message', async () => {
  const space = fc.constantFrom('', ' ', '  ', '\t', '\r\n ', ' \r\n\t ');
  await fc.assert(
    fc.asyncProperty(bodyText, space, space, fc.boolean(), async (body, before, between, repeated) => {
      const header =
        `From:${before}a@example.com\r\nSUBJECT :${before}Hello${between}world${between}x ${before}y\r\n` +
        `To: b@example.net\r\n${repeated ? 'Subject: second\r\nTo: c@example.net\r\n' : ''}` +
        'List-Unsubscribe: <https://example.com/u>\r\nX-Other: x\r\n';
      assert.equal(await resultOf(await signed(Buffer.from(`${header}\r\n${body}`))), 'pass');
    }),
    { numRuns: 50 },
  );
});

test('a message without a body, or without its empty line, is signed too', async () => {
  for (const message of [`${HEADER}\r\n`, `${HEADER}\r\n\r\n\r\n`, `${HEADER}\r\n `, `${HEADER}\r\nx`]) {
    assert.equal(await resultOf(await signed(Buffer.from(message))), 'pass', JSON.stringify(message));
  }
  assert.match(
    await signMessage(signable(Buffer.from(HEADER)), [key], 1),
    /bh=47DEQpj8HBSa\+\/TImW\+5JCeuQeRkm5NMpJWZG3hSuFU=/,
  );
});

test('the header is signed the same with its empty line and without, and whatever stands behind it', async () => {
  const { bodyHash } = signable(Buffer.from(`${HEADER}\r\nbody\r\n`));
  const field = await signMessage({ header: Buffer.from(HEADER), bodyHash }, [key], 1);
  for (const header of [`${HEADER}\r\n`, HEADER.slice(0, -2), `${HEADER}\r\nSubject: of the body`]) {
    assert.equal(await signMessage({ header: Buffer.from(header), bodyHash }, [key], 1), field);
  }
});

test('a field put in front of a signed one breaks the signature', async () => {
  const message = await signed(Buffer.from(`${HEADER}\r\nbody\r\n`));
  for (const name of [
    'From',
    'To',
    'Cc',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
  ]) {
    const forged = Buffer.concat([Buffer.from(`${name}: forged@example.org\r\n`), message]);
    assert.notEqual(await resultOf(forged), 'pass', name);
  }
  assert.equal(
    await resultOf(Buffer.concat([Buffer.from('Received: by relay.example\r\n'), message])),
    'pass',
  );
});

test('fields of marketing mail are signed, and no second one can be added; other mail may get them from a list', async () => {
  for (const name of ['List-Id', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID']) {
    const message = await signed(Buffer.from(`${HEADER}${name}: own\r\n\r\nbody\r\n`));
    assert.equal(await resultOf(message), 'pass', name);
    const added = Buffer.from(`${name}: forged\r\n`);
    assert.notEqual(await resultOf(Buffer.concat([added, message])), 'pass', `a second ${name}`);
    const changed = Buffer.from(message.toString('latin1').replace(': own', ': forged'), 'latin1');
    assert.notEqual(await resultOf(changed), 'pass', `another ${name}`);
    const plain = await signed(Buffer.from(`${HEADER}\r\nbody\r\n`));
    assert.equal(await resultOf(Buffer.concat([added, plain])), 'pass', `the first ${name}`);
  }
});

test('the choice of a BIMI logo is signed: another one in its place breaks the signature', async () => {
  const message = await signed(Buffer.from(`${HEADER}BIMI-Selector: v=BIMI1; s=spring\r\n\r\nbody\r\n`));
  assert.equal(await resultOf(message), 'pass');
  const forged = Buffer.from(message.toString('latin1').replace('s=spring', 's=winter'), 'latin1');
  assert.notEqual(await resultOf(forged), 'pass');
});

test('text appended to a signed body breaks the signature, for there is no l=', async () => {
  const message = await signed(Buffer.from(`${HEADER}\r\nbody\r\n`));
  assert.doesNotMatch(message.toString('latin1'), /\bl=/);
  assert.notEqual(await resultOf(Buffer.concat([message, Buffer.from('more\r\n')])), 'pass');
});

test('one message, key and second give one signature, in lines a header may have', async () => {
  const message = signable(Buffer.from(`${HEADER}\r\nbody\r\n`));
  const field = await signMessage(message, [key], 1_700_000_000);
  assert.equal(await signMessage(message, [key], 1_700_000_000), field);
  assert.match(
    field,
    /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed; d=example\.com;\r\n s=pr1; t=1700000000;\r\n/,
  );
  assert.ok(field.endsWith('\r\n'));
  for (const line of field.split('\r\n')) assert.ok(line.length <= 78, line);
});

test('an independent verifier passes both signatures of a message, of which Ed25519 stands first', async () => {
  const { privateKeyPem, publicKeyBase64 } = await generateEd25519Key();
  const privateKey = createPrivateKey(privateKeyPem);
  const second: DkimKey = { domain: 'example.com', selector: 'pr2', algorithm: 'ed25519-sha256', privateKey };
  const message = Buffer.from(`${HEADER}\r\nbody\r\n`);
  const fields = await signMessage(signable(message), [second, key], 999_999_999);
  const records: Record<string, string> = {
    'pr1._domainkey.example.com': record,
    'pr2._domainkey.example.com': dkimKeyRecord(publicKeyBase64, 'ed25519'),
  };
  const judge = async (bytes: Buffer) => {
    const resolver = async (name: string) => [[records[name]]];
    const options = { resolver, strict: true, curTime: new Date(1_000_000_000_000) } as never;
    const { results } = await dkimVerify(bytes, options);
    return results.map((one) => [one.selector, one.algo, one.status.result]);
  };
  const both = Buffer.concat([Buffer.from(fields, 'latin1'), message]);
  assert.deepEqual(await judge(both), [
    ['pr2', 'ed25519-sha256', 'pass'],
    ['pr1', 'rsa-sha256', 'pass'],
  ]);
  const changed = Buffer.from(both.toString('latin1').replace('Subject: Hello', 'Subject: hello'), 'latin1');
  assert.deepEqual(
    (await judge(changed)).map(([, , result]) => result),
    ['fail', 'fail'],
  );
});

test('the canonical form of a field is its own canonical form', () => {
  assert.equal(relaxedField('SubJect \t: Some \r\n\t text  '), 'subject:Some text');
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', ' ', '\t', '\r\n ', ':'), { maxLength: 20 }), (parts) => {
      const once = relaxedField(`Name:${parts.join('')}`);
      assert.equal(relaxedField(once), once);
    }),
  );
});
