/**
 * The steps of the demo: it makes a tenant and a key, a domain with its DNS records, a webhook endpoint and one
 * email, and then checks the message and the webhooks that arrive. The email is answered, and another one comes back
 * (inbound.ts). Everything except the DNS is real.
 */

import { curlLine } from '../../emails/curl.ts';
import { openControl } from '../control-client.ts';
import type { Terminal } from '../terminal.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Environment, NAMES, withEnvironment } from './environment.ts';
import { receiveBounce, receiveReply } from './inbound.ts';
import type { ReceivedMail } from './receiver.ts';
import * as texts from './texts.ts';
import { readVerdicts, type Verdicts } from './verdicts.ts';
import type { ReceivedEvent, RoutePost } from './webhook-receiver.ts';
import type { ZoneRecord } from './zone.ts';

const FROM = `hello@${NAMES.sender}`;
const TO = `you@${NAMES.receiver}`;
const EVENTS = ['email.queued', 'email.sent', 'email.delivered'] as const;
const BOUNCED = 'email.bounced';

/** The results of sending. `failed` names the checks that failed. */
type Findings = {
  id: string;
  mail: ReceivedMail;
  verdicts: Verdicts;
  event: ReceivedEvent;
  failed: string[];
};
/** The results of receiving. */
type Arrived = { reply: RoutePost; bounce: ReceivedEvent; failed: string[] };

/**
 * Runs the demo and returns the names of the failed checks. With `once` it ends after the first email, otherwise at
 * Ctrl-C.
 */
export function runDemo(terminal: Terminal, options: { once: boolean; json: boolean }): Promise<string[]> {
  const stopped = terminal.untilStopped();
  const print = (text: string) => {
    if (!options.json) terminal.print(text);
  };
  return withEnvironment(async (environment) => {
    print(texts.introduction(environment));
    const key = await makeKey(environment);
    const api = createApiClient(environment.daemon.address, key);
    await setUpDomain(api, environment, print);
    await setUpWebhook(api, environment);
    const findings = await sendOne(api, environment, print);
    print(texts.summary(findings));
    const arrived = await receive(api, environment, { print, findings });
    const failed = [...findings.failed, ...arrived.failed];
    print(texts.result(failed));
    if (options.json) terminal.print(JSON.stringify(asJson(findings, arrived), null, 2));
    if (options.once) return failed;
    print(texts.nextStep(curlLine({ address: environment.daemon.address, key, from: FROM, to: TO })));
    let isEarlier = true;
    environment.receiver.mail.each((mail) => {
      if (!isEarlier) void report(mail, environment, print);
    });
    isEarlier = false;
    await stopped;
    return failed;
  });
}

/** Makes a key over the control socket, as `postrider tenant create` and `postrider key create` do. */
async function makeKey({ config }: Environment): Promise<string> {
  const control = await openControl(config);
  try {
    const tenant = await control.request<{ id: string }>('POST', '/tenants', {
      name: 'demo',
      plan: 'unlimited',
    });
    const key = { tenant: tenant.id, name: 'demo', mode: 'live', permission: 'full_access' };
    return (await control.request<{ token: string }>('POST', '/keys', key)).token;
  } finally {
    await control.close();
  }
}

type DnsRecord = { type: 'TXT' | 'CNAME'; name: string; value: string; alternative?: { value: string } };
type Domain = { id: string; name: string; status: string; records: DnsRecord[] };

async function setUpDomain(
  api: ApiClient,
  { zone }: Environment,
  print: (text: string) => void,
): Promise<void> {
  const { id, records } = await api.post<Domain>('/v1/domains', { name: NAMES.sender });
  zone.publish(records.flatMap(toZone));
  const verified = await api.post<Domain>(`/v1/domains/${id}/verify`);
  print(texts.domainLine(verified));
  if (verified.status !== 'verified') throw new Error(`the domain is ${verified.status}, not verified`);
}

/** Returns the records to publish: the customer's CNAME, and the key that it points to in the operator's zone. */
function toZone({ type, name, value, alternative }: DnsRecord): ZoneRecord[] {
  const published: ZoneRecord = { type, name, value };
  return alternative === undefined
    ? [published]
    : [published, { type: 'TXT', name: value, value: alternative.value }];
}

async function setUpWebhook(api: ApiClient, { webhooks }: Environment): Promise<void> {
  const { secret } = await api.post<{ secret: string }>('/v1/webhooks', {
    url: webhooks.url,
    events: [...EVENTS, BOUNCED],
  });
  webhooks.expectSecret(secret);
}

async function sendOne(
  api: ApiClient,
  environment: Environment,
  print: (text: string) => void,
): Promise<Findings> {
  const { mail, events } = { mail: environment.receiver.mail, events: environment.webhooks.events };
  const { id } = await api.post<{ id: string }>('/v1/emails', {
    from: `Shop <${FROM}>`,
    to: TO,
    subject: 'Your order is on its way',
    html: '<p>It left the house <b>today</b>.</p>',
    type: 'transactional',
  });
  print(texts.emailLines(id, FROM, TO));
  events.each((event) => print(texts.eventLine(event)));
  const received = await mail.first('the email', ({ recipients }) => recipients.includes(TO));
  const arrived = await Promise.all(
    EVENTS.map((type) => events.first(type, (event) => event.type === type && event.emailId === id)),
  );
  const verdicts = await readVerdicts(received, NAMES.receiverHost, environment.zone);
  const event = arrived.at(-1);
  if (!event) throw new Error('no event came');
  const checks: Record<string, boolean> = {
    SPF: verdicts.spf === 'pass',
    DKIM: verdicts.dkim === 'pass',
    DMARC: verdicts.dmarc === 'pass',
    STARTTLS: environment.certificate === undefined || received.tlsVersion !== undefined,
    'webhook signature': arrived.every(({ signatureValid }) => signatureValid),
  };
  const failed = Object.keys(checks).filter((name) => !checks[name]);
  return { id, mail: received, verdicts, event, failed };
}

async function receive(
  api: ApiClient,
  environment: Environment,
  { print, findings }: { print: (text: string) => void; findings: Findings },
): Promise<Arrived> {
  const steps = { api, environment, print };
  const messageId = /^Message-ID: (<[^>]+>)/im.exec(findings.mail.raw.toString('latin1'))?.[1] ?? '';
  const reply = await receiveReply(steps, { id: findings.id, messageId });
  const bounce = await receiveBounce(steps, FROM);
  const checks: Record<string, boolean> = {
    'SPF of the reply': reply.auth.spf === 'pass',
    'DMARC of the reply': reply.auth.dmarc === 'pass',
    'answered email': reply.emailId === findings.id,
    'signature of the post': reply.signatureValid,
    'signature of the bounce event': bounce.signatureValid,
  };
  return { reply, bounce, failed: Object.keys(checks).filter((name) => !checks[name]) };
}

async function report(
  mail: ReceivedMail,
  environment: Environment,
  print: (text: string) => void,
): Promise<void> {
  print(texts.receivedLine(mail, await readVerdicts(mail, NAMES.receiverHost, environment.zone)));
}

function asJson(sent: Findings, { reply, bounce, failed }: Arrived) {
  const { mail, verdicts, event } = sent;
  const allFailed = [...sent.failed, ...failed];
  return {
    ok: allFailed.length === 0,
    failed: allFailed,
    tls: mail.tlsVersion ?? null,
    ...verdicts,
    event: event.type,
    signature: event.signature,
    reply: { ...reply.auth, emailId: reply.emailId },
    bounce: bounce.type,
  };
}
