/**
 * Checks that mail can leave: the mail servers of two large providers are connected to, and one greeting suffices. Many hosting
 * providers block outgoing connections to port 25.
 */
import type { Socket } from 'node:net';
import { withTimeout } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import { type Check, type CheckContext, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('outbound-port');

/** Domains of two large providers, whose servers accept connections from everywhere. */
const PROBED_DOMAINS = ['gmail.com', 'outlook.com'];
/** Maximum time of a connection, and of its greeting, in milliseconds. */
const STEP_TIMEOUT_MS = 2_000;
const MAX_GREETING_BYTES = 512;

type Probe = { domain: string } & (
  | { kind: 'greeted'; host: string }
  | { kind: 'blocked'; host: string; reason: string }
  | { kind: 'unknown'; reason: string }
);

export const outboundPort: Check = {
  name: 'outbound-port',
  async run(context) {
    const subject = `port ${context.config.outbound.smtpPort}`;
    const probes = await Promise.all(PROBED_DOMAINS.map((domain) => probe(context, domain)));
    const greeted = probes.find((one) => one.kind === 'greeted');
    if (greeted?.kind === 'greeted') return [ok(subject, `${greeted.host} answers`)];
    const reasons = probes
      .map((one) => `${one.kind === 'blocked' ? one.host : one.domain}: ${'reason' in one ? one.reason : ''}`)
      .join('; ');
    if (probes.some(({ kind }) => kind === 'unknown'))
      return [warn(subject, `nothing is known (${reasons})`, 'see to DNS first')];
    const todo = 'ask your provider to open outgoing port 25, and look at the firewall of this machine';
    return [fail(subject, `no mail server can be reached (${reasons})`, todo)];
  },
};

async function probe(context: CheckContext, domain: string): Promise<Probe> {
  const { dns, dial, clock, config } = context;
  const exchanges = await dns.fresh.mx(domain);
  if (exchanges.kind !== 'found')
    return { domain, kind: 'unknown', reason: 'its MX records cannot be looked up' };
  const [first] = exchanges.records.toSorted((one, other) => one.preference - other.preference);
  const host = first?.exchange ?? '';
  const addresses = await dns.fresh.a(host);
  const [address] = addresses.kind === 'found' ? addresses.records : [];
  if (address === undefined) return { domain, kind: 'unknown', reason: `${host} cannot be looked up` };
  try {
    const socket = await dial({ address, port: config.outbound.smtpPort, timeoutMs: STEP_TIMEOUT_MS });
    const greeting = await readGreeting(socket, clock).finally(() => socket.destroy());
    if (greeting.startsWith('220')) return { domain, kind: 'greeted', host };
    return {
      domain,
      kind: 'blocked',
      host,
      reason: cleanForeignText(greeting) || 'the connection was closed',
    };
  } catch (error) {
    return { domain, kind: 'blocked', host, reason: errorMessage(error) };
  }
}

/** Returns the first line that the server sends; empty when it closes the connection before. */
function readGreeting(socket: Socket, clock: CheckContext['clock']): Promise<string> {
  const line = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (text.includes('\n') || text.length > MAX_GREETING_BYTES) resolve(text.split('\r\n', 1).join(''));
    });
    socket.once('close', () => resolve(text));
  });
  return withTimeout(clock, line, { timeoutMs: STEP_TIMEOUT_MS, what: 'the greeting' });
}
