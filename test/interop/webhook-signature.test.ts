import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { startDnsServer } from '../support/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { expectStatus, RECEIVER_DOMAIN, type Sender, startSender } from './sender.ts';
import { until } from './until.ts';
import {
  eventOf,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookRequest,
} from './webhook-receiver.ts';

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
    const request = await receiver.requestFor(id, type);
    const event: unknown = verify(request.rawBody, signatureOf(request));
    assert.deepEqual(event, JSON.parse(request.rawBody));
    const { data, createdAt } = eventOf(request);
    assert.equal(data.to, `inbox@${RECEIVER_DOMAIN}`);
    assert.match(data.from, /news@shop\.example/);
    assert.equal(new Date(createdAt).toISOString(), createdAt);
  }
  assert.equal(sink.messages.length, 1);
});

test('it refuses a body with one character changed, another secret, and a header without a signature', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const request = await receiver.requestFor(id, 'email.delivered');
  const header = signatureOf(request);
  const refused = { type: 'StripeSignatureVerificationError' };
  assert.throws(() => verify(request.rawBody.replace('inbox@', 'inbux@'), header), refused);
  assert.throws(() => verify(request.rawBody, header, { secret: `${secret}x` }), refused);
  assert.throws(() => verify(request.rawBody, header.replace(/,v1=.*/, '')), refused);
});

test('it refuses the signature once it is older than five minutes', async () => {
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const request = await receiver.requestFor(id, 'email.delivered');
  const header = signatureOf(request);
  const signedAtSeconds = Number(/^t=(\d+),v1=[0-9a-f]{64}$/.exec(header)?.[1]);
  assert.ok(Math.abs(Date.now() / 1000 - signedAtSeconds) < SKEW_SECONDS, header);
  const at = (seconds: number) => ({ receivedAtMs: (signedAtSeconds + seconds) * 1_000 });
  assert.ok(verify(request.rawBody, header, at(SKEW_SECONDS)));
  assert.throws(() => verify(request.rawBody, header, at(SKEW_SECONDS + 1)), /outside the tolerance/);
});

test('a refused event comes again with the same id and body, signed anew', async () => {
  receiver.nextStatuses.push(500);
  const id = await sender.send(`inbox@${RECEIVER_DOMAIN}`);
  const repeated = await until('an event came twice', async () => {
    const own = receiver.requests.filter((request) => eventOf(request).data.emailId === id);
    const pairs = Object.groupBy(own, (request) => eventOf(request).id);
    return Object.values(pairs).find((requests) => requests?.length === 2);
  });
  const [first, second] = repeated as [WebhookRequest, WebhookRequest];
  assert.equal(second.rawBody, first.rawBody);
  assert.notEqual(signatureOf(second), signatureOf(first));
  assert.ok(verify(second.rawBody, signatureOf(second)));
});

function signatureOf(request: WebhookRequest): string {
  const header = request.headers['x-service-signature'];
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
