import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDnsServer } from '../support/dns-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { until } from './until.ts';
import { eventOf, waitForEvent } from './webhook-event.ts';

/** The first retry is due a minute after the deferral, give or take its jitter. */
const FIRST_RETRY_MAX_WAIT_MS = 150_000;

let postfix: Postfix;
let sender: Sender;
let webhooks: WebhookReceiver;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  postfix = await startPostfix({
    domain: RECEIVER_DOMAIN,
    mailboxes: ['inbox', 'later', 'one', 'two'],
    replies: { later: '450 4.2.0 Greylisted, try again later' },
  });
  closers.unshift(() => postfix.stop());
  webhooks = await startWebhookReceiver();
  closers.unshift(() => webhooks.close());
  sender = await startSender({ dns, receiver: postfix });
  closers.unshift(() => sender.daemon.stop());
  const events = ['email.delivered', 'email.bounced', 'email.delivery_delayed'];
  expectStatus(await sender.post('/v1/webhooks', { url: webhooks.url, events }), 201);
});

after(async () => {
  for (const close of closers) await close();
});

test('a mail arrives in the mailbox over TLS, and the API shows what Postfix replied', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`, {
    subject: 'Grüße, 世界',
    html: '<p>Grüße</p>',
    text: 'Grüße\n.\n.a line that begins with a dot\n',
  });
  const email = await sender.emailWithStatus(id, 'delivered');
  const message = await until(
    'the message is in the mailbox',
    async () => (await postfix.messages('inbox'))[0],
  );

  const recipient = email.recipients[0];
  const queueId = /\tby mx\.receiver\.example \(Postfix\) with ESMTPS id (\w+)/.exec(message)?.[1];
  assert.ok(queueId, message);
  assert.equal(recipient?.status, 'delivered');
  assert.equal(recipient.smtpCode, 250);
  assert.equal(recipient.enhancedCode, '2.0.0');
  assert.match(recipient.diagnostic ?? '', new RegExp(`Ok: queued as ${queueId}`));
  assert.equal(recipient.mx, postfix.hostname);
  assert.match(recipient.tls ?? '', /TLSv1\.3/);

  assert.match(message, new RegExp(`^Received: from ${SENDER_HOSTNAME.replaceAll('.', '\\.')} `, 'm'));
  assert.match(message, /using TLSv1\.3 with cipher/);
  assert.match(message, /^Return-Path: <b\+[^@\s]+@bounce\.post\.sender\.example>$/m);
  assert.ok(message.includes(`Message-ID: ${email.messageId}`), `${email.messageId} in\n${message}`);
  const delivered = eventOf(await waitForEvent(webhooks, id, 'email.delivered'));
  assert.equal(delivered.data.to, `inbox@${RECEIVER_DOMAIN}`);
});

test('two recipients of one mail end up in two mailboxes, each its own status', async () => {
  const id = await sender.send(`one@${RECEIVER_DOMAIN}`, {
    to: [`one@${RECEIVER_DOMAIN}`, `two@${RECEIVER_DOMAIN}`, `nobody-else@${RECEIVER_DOMAIN}`],
  });
  const email = await until('all recipients are settled', async () => {
    const seen = await sender.email(id);
    return seen.recipients.every((one) => ['delivered', 'bounced'].includes(one.status)) && seen;
  });
  assert.deepEqual(
    email.recipients.map((one) => one.status),
    ['delivered', 'delivered', 'bounced'],
  );
  assert.equal(email.status, 'delivered');
  for (const mailbox of ['one', 'two']) {
    await until(`a message for ${mailbox}`, async () => (await postfix.messages(mailbox)).length === 1);
  }
});

test('an unknown user bounces with its enhanced code, and the next send to it is refused', async () => {
  const to = `nobody@${RECEIVER_DOMAIN}`;
  const id = await sender.send(to);
  const email = await sender.emailWithStatus(id, 'bounced');
  const recipient = email.recipients[0];
  assert.equal(recipient?.smtpCode, 550);
  assert.equal(recipient.enhancedCode, '5.1.1');
  assert.match(recipient.diagnostic ?? '', /User unknown in virtual mailbox table/);

  const bounced = eventOf(await waitForEvent(webhooks, id, 'email.bounced'));
  const bounce = bounced.data['bounce'] as Record<string, unknown>;
  assert.equal(bounce['type'], 'permanent');
  assert.equal(bounce['enhancedCode'], '5.1.1');

  const again = { from: `news@${SENDER_DOMAIN}`, to, subject: 'Again', text: 'Hello', type: 'transactional' };
  const refused = await sender.post('/v1/emails', again);
  const { error } = expectStatus<{ error: { type: string } }>(refused, 422);
  assert.equal(error.type, 'suppressed_recipient');
});

test('a greylisted mail is delayed, stays sent, and is delivered when Postfix takes it', async () => {
  const id = await sender.send(`later@${RECEIVER_DOMAIN}`);
  const delayed = eventOf(await waitForEvent(webhooks, id, 'email.delivery_delayed'));
  assert.match(JSON.stringify(delayed.data['delay']), /Greylisted, try again later/);
  const email = await sender.email(id);
  assert.equal(email.status, 'sent');
  assert.equal(email.recipients[0]?.status, 'deferred');
  assert.equal(email.recipients[0].smtpCode, 450);
  assert.equal(email.recipients[0].enhancedCode, '4.2.0');
  assert.equal((await postfix.messages('later')).length, 0);

  await postfix.setReplies({});
  const final = await until(
    'the mail is delivered on its second attempt',
    async () => {
      const seen = await sender.email(id);
      return seen.status === 'delivered' && seen;
    },
    FIRST_RETRY_MAX_WAIT_MS,
  );
  assert.equal(final.recipients[0]?.attempts, 2);
  await until('the message is in the mailbox', async () => (await postfix.messages('later')).length === 1);
  assert.match(await postfix.log(), /NOQUEUE: reject: RCPT from unknown\[127\.0\.0\.1\]: 450 4\.2\.0/);
});
