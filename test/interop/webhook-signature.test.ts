import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { startDnsServer } from '../support/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';
import { expectStatus, RECEIVER_DOMAIN, type Sender, startSender } from './sender.ts';
import { eventOf, waitForEvent } from './webhook-event.ts';

const EVENTS = ['email.queued', 'email.sent', 'email.delivered'];
const SKEW_SECONDS = 300;

let sink: SmtpSink;
let sender: Sender;
let receiver: WebhookReceiver;
let secret: string;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  sink = await startSmtpSink();
  closers.unshift(() => sink.close());
  receiver = await startWebhookReceiver();
  closers.unshift(() => receiver.close());
  sender = await startSender({ dns, receiver: { hostname: `mx.${RECEIVER_DOMAIN}`, port: sink.port } });
  closers.unshift(() => sender.daemon.stop());
  const endpoint = expectStatus<{ secret: string; status: string }>(
    await sender.post('/v1/webhooks', { url: receiver.url, events: EVENTS }),
    201,
  );
  assert.equal(endpoint.status, 'enabled');
  secret = endpoint.secret;
});

after(async () => {
  for (const close of closers) await close();
});

test('the verifier of the stripe package accepts each event of a real send', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  for (const type of EVENTS) {
    const webhook = await waitForEvent(receiver, id, type);
    const event: unknown = verify(webhook.body, signatureOf(webhook));
    assert.deepEqual(event, JSON.parse(webhook.body));
    const { data, createdAt } = eventOf(webhook);
    assert.equal(data.to, `inbox@${RECEIVER_DOMAIN}`);
    assert.match(data.from, /news@shop\.example/);
    assert.equal(new Date(createdAt).toISOString(), createdAt);
  }
  assert.equal(sink.messages.length, 1);
});

test('verification refuses a body with one character changed, another secret, and a header without a signature', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const webhook = await waitForEvent(receiver, id, 'email.delivered');
  const header = signatureOf(webhook);
  const refused = { type: 'StripeSignatureVerificationError' };
  assert.throws(() => verify(webhook.body.replace('inbox@', 'inbux@'), header), refused);
  assert.throws(() => verify(webhook.body, header, { secret: `${secret}x` }), refused);
  assert.throws(() => verify(webhook.body, header.replace(/,v1=.*/, '')), refused);
});

test('verification refuses a signature that is older than five minutes', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const webhook = await waitForEvent(receiver, id, 'email.delivered');
  const header = signatureOf(webhook);
  const signedAtSeconds = Number(/^t=(\d+),v1=[0-9a-f]{64}$/.exec(header)?.[1]);
  assert.ok(Math.abs(Date.now() / 1000 - signedAtSeconds) < SKEW_SECONDS, header);
  const at = (seconds: number) => ({ receivedAtMs: (signedAtSeconds + seconds) * 1_000 });
  assert.ok(verify(webhook.body, header, at(SKEW_SECONDS)));
  assert.throws(() => verify(webhook.body, header, at(SKEW_SECONDS + 1)), /outside the tolerance/);
});

function signatureOf(webhook: ReceivedWebhook): string {
  const header = webhook.headers['x-service-signature'];
  assert.equal(typeof header, 'string');
  return String(header);
}

function verify(
  rawBody: string,
  header: string,
  options: { secret?: string; receivedAtMs?: number } = {},
): unknown {
  const stripe = new Stripe('sk_test_unused');
  return stripe.webhooks.constructEvent(
    rawBody,
    header,
    options.secret ?? secret,
    SKEW_SECONDS,
    undefined,
    options.receivedAtMs,
  );
}
