/**
 * The sending side of an interop test: the daemon as its own process, a live key, and a domain that was created and
 * verified over the API, with every record it asked for published in the fake DNS.
 */
import assert from 'node:assert/strict';
import { conformanceAt } from '../support/conformance.ts';
import { type DaemonProcess, type DaemonResponse, startDaemonProcess } from '../support/daemon.ts';
import type { DnsServer } from '../support/dns-server.ts';
import { createLiveSender } from '../support/live-sender.ts';
import { until } from './until.ts';

export const SENDER_HOSTNAME = 'post.sender.example';
export const SENDER_DOMAIN = 'shop.example';
export const RECEIVER_DOMAIN = 'receiver.example';
/** Where everything of these tests runs, seen from SPF. */
const LOOPBACK = '127.0.0.1';

export type EmailRecipient = {
  email: string;
  status: string;
  attempts: number;
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  mx: string | null;
  tls: string | null;
};

export type Email = { id: string; status: string; messageId: string; recipients: EmailRecipient[] };

export type Sender = {
  daemon: DaemonProcess;
  /** A live key with full access. */
  key: string;
  /** All the zone text the fake DNS answers from. */
  zone: string;
  get(path: string): Promise<DaemonResponse>;
  post(path: string, body: unknown): Promise<DaemonResponse>;
  /** Posts an email from the verified domain and resolves with its id. */
  send(to: string, fields?: Record<string, unknown>): Promise<string>;
  email(id: string): Promise<Email>;
  /** The email once its status is `status`. */
  emailWithStatus(id: string, status: string): Promise<Email>;
};

/** `receiver` is the mail server of RECEIVER_DOMAIN, on 127.0.0.1. */
export async function startSender(options: {
  dns: DnsServer;
  receiver: { hostname: string; port: number };
  /** Further settings of the daemon, and zone text of others. */
  env?: Record<string, string>;
  otherZone?: string;
}): Promise<Sender> {
  const { dns, receiver, env, otherZone = '' } = options;
  const daemon = await startDaemonProcess({
    env: {
      POSTRIDER_HOSTNAME: SENDER_HOSTNAME,
      POSTRIDER_DNS_SERVERS: dns.address,
      POSTRIDER_OUTBOUND_SMTP_PORT: String(receiver.port),
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
      POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
      POSTRIDER_LOG_LEVEL: 'info',
      ...env,
    },
  });
  const receiverZone = [
    `${RECEIVER_DOMAIN} MX 10 ${receiver.hostname}`,
    `${receiver.hostname} A ${LOOPBACK}`,
    otherZone,
  ].join('\n');
  const live = await createLiveSender(daemon, dns, { domain: SENDER_DOMAIN, otherZone: receiverZone });
  const zone = [receiverZone, live.zone, operatorZone(live.zone)].join('\n');
  dns.setZone(zone);
  const { key } = live;
  const { check } = await conformanceAt(daemon.address);
  const request = async (method: 'GET' | 'POST', url: string, body?: unknown) => {
    const response = await daemon.request(method, url, key, body);
    check({ method, url, ...response, text: JSON.stringify(response.body) });
    return response;
  };
  const post = (path: string, body: unknown) => request('POST', path, body);
  const email = async (id: string) => expectStatus<Email>(await request('GET', `/v1/emails/${id}`), 200);
  return {
    daemon,
    key,
    zone,
    get: (path) => request('GET', path),
    post,
    email,
    async send(to, fields = {}) {
      const body = {
        from: `Shop <news@${SENDER_DOMAIN}>`,
        to: [to],
        subject: 'Hello',
        text: 'Hello there\n',
      };
      const accepted = expectStatus<{ id: string; status: string }>(
        await post('/v1/emails', { ...body, type: 'transactional', ...fields }),
        200,
      );
      assert.equal(accepted.status, 'queued');
      return accepted.id;
    },
    emailWithStatus: (id, status) =>
      until(`email is ${status}`, async () => {
        const seen = await email(id);
        return seen.status === status && seen;
      }),
  };
}

/** The body as `T`, which the assertions of the caller then examine field by field. */
export function expectStatus<T>(response: DaemonResponse, status: number): T {
  assert.equal(response.status, status, JSON.stringify(response.body));
  return response.body as T;
}

/** What the operator publishes: which addresses send, for the return path and for each name that tenants include. */
function operatorZone(domainZone: string): string {
  const included = [...domainZone.matchAll(/\binclude:([^\s"]+)/g)].map((match) => match[1]);
  const names = new Set([`bounce.${SENDER_HOSTNAME}`, ...included]);
  return [...names].map((name) => `${name} TXT "v=spf1 ip4:${LOOPBACK} -all"`).join('\n');
}
