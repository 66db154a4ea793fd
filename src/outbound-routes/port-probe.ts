/**
 * Tells whether this machine can reach port 25 of other mail servers, which many providers block. It dials two large receivers over
 * each family of addresses, and ends the session after the greeting. It runs only when somebody asks for it.
 */
import { isIP } from 'node:net';
import type { App } from '../app.ts';
import { planMx } from '../mail/mx.ts';
import { openSmtp } from '../mail/smtp/client/open.ts';
import { DEFAULT_SMTP_TIMEOUTS } from '../mail/smtp/client/timeouts.ts';
import { replyText } from '../mail/smtp/reply.ts';
import { cleanForeignText } from '../system/foreign-text.ts';

/** Domains whose mail servers are dialled: those of the two largest receivers, which are up at all times. */
const RECEIVERS = ['gmail.com', 'outlook.com'] as const;
/** Maximum time of each step. A packet filter usually drops what it blocks, so that nothing answers; a receiver greets at once. */
const STEP_MS = 2_500;
const TIMEOUTS = { ...DEFAULT_SMTP_TIMEOUTS, connectMs: STEP_MS, bannerMs: STEP_MS, ehloMs: STEP_MS };

/** `no-route`: this machine has no address of the family. `unknown`: no server was dialled, because DNS named none. */
type PortState = 'open' | 'blocked' | 'no-route' | 'unknown';
type Dialled = { host: string; address: string; answered: boolean; detail: string };
export type PortProbe = { ipv4: PortState; ipv6: PortState; dialled: Dialled[] };

type Probing = Pick<App, 'clock' | 'dns' | 'dial' | 'random' | 'targets' | 'config'>;

/** Errors of connect(2) without a route, or without an address of our own in the family. */
const NO_ROUTE = /\b(?:ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)\b/;

/** Probes port 25. A family is open when one server has greeted over it; one that refuses the connection takes no mail from here. */
export async function probePort25(app: Probing): Promise<PortProbe> {
  const found = await Promise.all(RECEIVERS.map((domain) => firstAddresses(app, domain)));
  const dialled = await Promise.all(found.flat().map((target) => dialServer(app, target)));
  const stateOf = (family: 4 | 6): PortState => {
    const ofFamily = dialled.filter(({ address }) => isIP(address) === family);
    if (ofFamily.length === 0) return 'unknown';
    if (ofFamily.every(({ detail }) => NO_ROUTE.test(detail))) return 'no-route';
    return ofFamily.some(({ answered }) => answered) ? 'open' : 'blocked';
  };
  return { ipv4: stateOf(4), ipv6: stateOf(6), dialled };
}

/** Returns the first address of each family of the mail servers of a domain. */
async function firstAddresses(app: Probing, domain: string): Promise<{ host: string; address: string }[]> {
  const plan = await planMx(app, domain);
  if (plan.kind !== 'hosts') return [];
  const all = plan.hosts.flatMap(({ name, addresses }) =>
    addresses.map((address) => ({ host: name, address })),
  );
  return [4, 6].flatMap((family) => all.find(({ address }) => isIP(address) === family) ?? []);
}

async function dialServer(
  app: Probing,
  { host, address }: { host: string; address: string },
): Promise<Dialled> {
  const opened = await openSmtp(app, {
    address,
    port: app.config.outbound.smtpPort,
    serverName: host,
    heloName: app.config.hostname,
    tls: 'none',
    timeouts: TIMEOUTS,
  });
  if (opened.ok) {
    void opened.session.quit();
    return { host, address, answered: true, detail: 'answered' };
  }
  const { failure } = opened;
  const detail = failure.kind === 'reply' ? replyText(failure.reply) : failure.message;
  const answered = failure.phase !== 'connect' && failure.phase !== 'banner';
  return { host, address, answered, detail: cleanForeignText(detail) };
}
