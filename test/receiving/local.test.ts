import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LocalOrigin } from '../../src/queue/local-receiver.ts';
import { createLocalReceiver } from '../../src/receiving/local.ts';
import { newId } from '../../src/system/ids.ts';
import { openMailWorld } from '../inbound/mail-world.ts';

let isBelowReserve = false;
const world = await openMailWorld({
  replace: ({ disk }) => ({
    disk: Object.defineProperty(disk, 'isBelowReserve', { get: () => isBelowReserve }),
  }),
});
await world.addDomain('shop.example');
const route = await world.addRoute('info@shop.example');

const TENANT: LocalOrigin = { kind: 'tenant' };
const MESSAGE = 'From: Shop <news@shop.example>\r\nSubject: Hello\r\n\r\nHi\r\n';

/** Hands over a message to these recipients, and returns the answer for each. */
async function hand(recipients: readonly string[], message = MESSAGE, origin = TENANT) {
  const answers = await createLocalReceiver(world.app)({
    origin,
    sender: 'b+x@bounce.mx.postrider.example',
    recipients,
    requireTls: false,
    dsn: { message: null, recipients: [] },
    utf8: false,
    sizeBytes: message.length,
    isEightBit: false,
    async *bytes() {
      yield Buffer.from(message);
    },
  });
  return answers.map(({ phase, code, status }) => `${phase} ${code} ${status}`);
}

test('mail of this installation takes the path of other mail, and its trace says where it came from', async () => {
  const answers = await hand(['info@shop.example', 'nobody@shop.example', 'postmaster@shop.example']);
  assert.deepEqual(answers, ['dot 250 2.0.0', 'rcpt 550 5.1.1', 'dot 250 2.0.0']);
  const row = (await world.messages()).find(({ tenantId }) => tenantId !== null);
  assert.ok(row);
  const { remoteAddress, helo, tls, auth, headerFrom, flagged } = row;
  assert.deepEqual(
    [remoteAddress, helo, tls, auth, headerFrom, flagged],
    ['', null, null, null, 'news@shop.example', 0],
  );
  assert.equal(
    row.trace,
    [
      'Return-Path: <b+x@bounce.mx.postrider.example>',
      'Authentication-Results: mx.postrider.example;',
      ' auth=pass (submitted to this installation)',
      'Received: by mx.postrider.example',
      `\tid ${row.id};`,
      '\tFri, 15 Jan 2027 08:00:00 +0000',
      '',
    ].join('\r\n'),
  );
  const tasks = (await world.tasks()).filter(({ messageId }) => messageId === row.id);
  assert.deepEqual(
    tasks.map(({ kind, targetId }) => [kind, targetId]),
    [['post', route]],
  );
  // It was not authenticated.
  assert.deepEqual(world.knobs.inputs, []);
  assert.equal(world.lines.at(-1)?.['client'], 'local');
});

/** Returns the row of the message with this subject. */
async function handFrom(origin: LocalOrigin, subject: string) {
  await hand(['info@shop.example'], MESSAGE.replace('Hello', subject), origin);
  return (await world.messages()).find((row) => row.subject === subject) ?? assert.fail();
}

test('nothing is claimed about a message that the installation itself has written', async () => {
  const { auth, flagged, trace } = await handFrom({ kind: 'installation' }, 'Report');
  assert.deepEqual([auth, flagged], [null, 0]);
  assert.match(trace, /\r\nAuthentication-Results: mx\.postrider\.example;\r\n none\r\nReceived: /);
});

test('a forwarded message passes nothing when the results of its arrival are no longer stored', async () => {
  const { auth, trace } = await handFrom({ kind: 'forwarded', blobId: newId('blob', 0) }, 'Forwarded');
  const { spf, dmarc } = JSON.parse(auth ?? '');
  assert.deepEqual([spf.result, dmarc.result], ['temperror', 'temperror']);
  assert.doesNotMatch(trace, /=pass/);
});

test('a refusal is an answer, so that the mail bounces or is tried again', async () => {
  assert.deepEqual(await hand(['nobody@shop.example']), ['rcpt 550 5.1.1']);
  assert.deepEqual(await hand(['info@shop.example'], 'Received: a\r\n'.repeat(51)), ['dot 554 5.4.6']);
  isBelowReserve = true;
  assert.deepEqual(await hand(['info@shop.example']), ['dot 452 4.3.1']);
  isBelowReserve = false;
});
