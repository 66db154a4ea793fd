import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_REWRITTEN_OCTETS,
  surrogateHeader,
  withSurrogateHeader,
} from '../../../src/mail/pop3/surrogate-header.ts';
import { createMemoryMaildrop } from '../../support/memory-pop3-session.ts';
import { LOGIN, startServer } from './fixture.ts';

const surrogate = (header: string): string => surrogateHeader(Buffer.from(header)).toString();

test('a header that is ASCII is left as it is', () => {
  const header = 'From: =?utf-8?q?J=C3=B6rg?= <a@b.example>\r\nX:  y\r\n\r\n';
  assert.equal(surrogate(header), header);
});

test('names and subjects become encoded-words, and other fields stay as they are', () => {
  assert.equal(
    surrogate('X-Own:  a\r\nSubject: Grüße\r\nFrom: Jörg <joerg@b.example>, x@y.example\r\n\r\n'),
    'X-Own:  a\r\nSubject: =?UTF-8?B?R3LDvMOfZQ==?=\r\nFrom: =?UTF-8?B?SsO2cmc=?= <joerg@b.example>,\r\n x@y.example\r\n\r\n',
  );
});

test('an address that is not ASCII becomes one that nobody has', () => {
  const to = surrogate('To: Jörg <jörg@b.example>\r\n\r\n');
  assert.match(to, /^To: =\?UTF-8\?[QB]\?.*\?=\r\n <invalid@internationalized-address\.invalid>\r\n\r\n$/s);
  assert.match(surrogate('Cc: a@ü.example\r\n\r\n'), /<invalid@internationalized-address\.invalid>\r\n\r\n$/);
});

test('parameters that are not ASCII are left out, and so are fields that cannot be shown', () => {
  assert.equal(
    surrogate('Content-Type: text/plain; name="ü;x"; charset=utf-8\r\nX-Name: ü\r\nReceived: from ü\r\n\r\n'),
    'Content-Type: text/plain; charset=utf-8\r\n\r\n',
  );
});

test('whatever a header has, its surrogate is ASCII', () => {
  const part = fc.constantFrom(
    ...[
      'From:',
      'Subject:',
      'X:',
      ' ',
      '\r\n',
      '\r\n ',
      'ü',
      '<',
      '>',
      '@',
      ',',
      ';',
      '"',
      '(',
      ')',
      'a',
      '\xff',
      ':',
      '=',
    ],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.boolean(), (parts, isLatin1) => {
      const header = Buffer.from(`${parts.join('')}\r\n\r\n`, isLatin1 ? 'latin1' : 'utf8');
      assert.ok(isAscii(surrogateHeader(header)));
    }),
    { numRuns: 250 },
  );
});

test('a long name or subject is written in short lines', () => {
  const header = surrogate(`Subject: ${'ü'.repeat(1_000)}\r\nFrom: ${'ü'.repeat(300)} <a@b.example>\r\n\r\n`);
  const lines = header.split('\r\n');
  assert.ok(lines.length > 30, `${lines.length}`);
  for (const line of lines) assert.ok(line.length <= 80, line);
});

test('a client that asks for UTF8 gets the message as it is, and others get the surrogate, also of TOP', async (t) => {
  const message = 'Subject: Grüße\r\nX: y\r\n\r\nÜber\r\n';
  const latin1 = Buffer.from(message).toString('latin1');
  for (const pieceOctets of [1, 5, 1_000, undefined]) {
    const drop = createMemoryMaildrop([latin1], pieceOctets === undefined ? {} : { pieceOctets });
    const { greeted, open } = await startServer(t, { drop });
    const shown = ['+OK', 'Subject: =?UTF-8?B?R3LDvMOfZQ==?=', 'X: y', ''];
    const plain = await open();
    const body = Buffer.from('Über').toString('latin1');
    assert.deepEqual(await plain.askLong('RETR 1'), [...shown, body]);
    assert.deepEqual(await plain.askLong('TOP 1 0'), shown);
    await plain.ask('QUIT');
    const client = await greeted();
    assert.equal(await client.ask('UTF8'), '+OK');
    for (const command of LOGIN) await client.ask(command);
    assert.deepEqual(await client.askLong('RETR 1'), ['+OK', ...latin1.split('\r\n').slice(0, -1)]);
    await client.ask('QUIT');
  }
});

test('a long header is refused unless it is ASCII', async () => {
  for (const octet of ['a', 'ü']) {
    async function* chunks() {
      for (let count = 0; count < 100; count++) yield Buffer.from(`X: ${octet.repeat(8_000)}\r\n`);
      yield Buffer.from('\r\nbody\r\n');
      return undefined;
    }
    let octets = 0;
    const message = withSurrogateHeader(chunks());
    let next = await message.next();
    for (; !next.done; next = await message.next()) octets += next.value.length;
    if (octet === 'a') assert.ok(octets > 100 * 8_000);
    else assert.deepEqual([octets, next.value?.code], [0, 'UTF8']);
  }
});

test('of fields that are not ASCII so many are rewritten that others do not wait for long', () => {
  const field = `Subject: ${'ü'.repeat(1_000)}\r\n`;
  const count = Math.floor(MAX_REWRITTEN_OCTETS / Buffer.byteLength(field));
  const shown = surrogateHeader(Buffer.from(`${field.repeat(count + 10)}X: y\r\n\r\n`)).toString();
  assert.equal(shown.match(/^Subject: /gm)?.length, count);
  assert.match(shown, /\r\nX: y\r\n\r\n$/);
});
