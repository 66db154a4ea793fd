/** The observer of a session sees all that was said, apart from content and secrets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpEvent } from '../../../../src/mail/smtp/client/events.ts';
import { hideSecrets, secretsOf } from '../../../../src/mail/smtp/client/login.ts';
import { openSmtp } from '../../../../src/mail/smtp/client/open.ts';
import {
  envelope,
  inline,
  meet,
  optionsFor,
  peerFor,
  send,
  sessionWith,
  worldWith,
} from './session-fixture.ts';

/** Returns an observer, and the list of what it saw, as short texts. */
function watch() {
  const seen: string[] = [];
  const observer = (event: SmtpEvent) => {
    if (event.kind === 'sent') seen.push(`> ${event.commands.replaceAll('\r\n', '|')}`);
    else if (event.kind === 'received') seen.push(`< ${event.reply.code} ${event.reply.lines.join('|')}`);
    else if (event.kind === 'content') seen.push(`content ${event.sizeBytes}`);
    else if (event.kind === 'failed') seen.push(`failed: ${event.failure.message}`);
    else seen.push(event.kind);
  };
  return { seen, observer };
}

test('the observer sees how a session opens', async (t) => {
  const { seen, observer } = watch();
  await meet(t, {}, { observer });
  assert.deepEqual(seen, [
    'connecting',
    'connected',
    '< 220 peer.test ESMTP',
    '> EHLO mail.example.com|',
    '< 250 peer.test|PIPELINING|SIZE 100000000|8BITMIME',
  ]);
});

test('the observer of a transaction sees its commands and replies, and of the message its size alone', async (t) => {
  const { session } = await meet(t);
  const { seen, observer } = watch();
  const message = inline('Subject: Secret\r\n\r\nA secret\r\n');
  await send(session, envelope({ message, prefix: Buffer.from('X-Secret: 1\r\n'), observer }));
  assert.deepEqual(seen, [
    `> MAIL FROM:<b+token@bounce.example.com> SIZE=${message.sizeBytes + 13}|RCPT TO:<ada@example.net>|DATA|`,
    '< 250 2.1.0 sender ok',
    '< 250 2.1.5 recipient ok',
    '< 354 go ahead',
    `content ${message.sizeBytes + 13}`,
    '< 250 2.0.0 taken',
  ]);
  assert.doesNotMatch(seen.join(), /secret/i);
});

test('each transaction has an observer of its own, also when the next one begins before the last has ended', async (t) => {
  const { session } = await meet(t);
  const first = watch();
  const second = watch();
  const sent = [
    send(session, envelope({ recipients: ['ann@example.net'], observer: first.observer })),
    send(session, envelope({ recipients: ['bob@example.net'], observer: second.observer })),
  ];
  await Promise.all(sent);
  assert.equal(first.seen.filter((line) => line.startsWith('<')).length, 4);
  assert.equal(second.seen.filter((line) => line.startsWith('<')).length, 4);
  assert.doesNotMatch(first.seen.join(), /bob/);
  assert.doesNotMatch(second.seen.join(), /ann/);
});

test('the observer sees why a connection ended without a reply', async (t) => {
  const { seen, observer } = watch();
  const peer = await peerFor(t, { ehlo: 'close', rcpt: 'close' });
  await openSmtp(worldWith(), optionsFor(peer.port, { observer }));
  assert.match(seen.at(-1) ?? '', /^failed: the (peer|host) (closed|reset) the connection/);
});

test('a recipient is probed without a message, and the session says RSET', async (t) => {
  const { seen, observer } = watch();
  const { session, peer } = await meet(t, {
    rcpt: (line) => (line.includes('nobody') ? '550 5.1.1 no such user\r\n' : '250 2.1.5 ok\r\n'),
  });
  const probed = await session.probe(envelope({ message: inline(''), prefix: Buffer.alloc(0), observer }));
  assert.equal(probed.kind, 'accepted');
  assert.deepEqual(
    seen.filter((line) => line.startsWith('>')),
    ['> MAIL FROM:<b+token@bounce.example.com> SIZE=0|', '> RCPT TO:<ada@example.net>|', '> RSET|'],
  );
  const refused = await session.probe(envelope({ recipients: ['nobody@example.net'], message: inline('') }));
  assert.deepEqual([refused.kind, 'phase' in refused && refused.phase], ['refused', 'rcpt']);
  assert.deepEqual(peer.messages, []);
});

test('a probe of a server that hangs up is a failure', async (t) => {
  const peer = await peerFor(t, { mail: 'close' });
  const session = await sessionWith(t, peer.port);
  assert.equal((await session.probe(envelope({ message: inline('') }))).kind, 'failed');
});

test('secrets are removed in each form, and a user name only where it is a word', () => {
  const secrets = secretsOf({ user: 'post', password: 'pass+word' });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const text = `Post <post@x> pass+word ${base64('post')} ${base64('pass+word')} ${base64('\0post\0pass+word')}; postmaster`;
  assert.equal(hideSecrets(text, secrets), '*** <***@x> *** *** *** ***; postmaster');
  assert.equal(hideSecrets('a.b axb', secretsOf({ user: 'a.b', password: 'unused' })), '*** axb');
});
