/** Connects to the server that mail is imported from, at an address that anybody may connect to. */
import type { Socket } from 'node:net';
import { NO_PUBLIC_ADDRESS } from '../../../system/blocklist.ts';
import type { DnsAnswer } from '../../../system/dns.ts';
import { errorCode, errorMessage } from '../../../system/errors.ts';
import type { System } from '../../../system/system.ts';
import { SourceError } from './source-error.ts';

type DialApp = Pick<System, 'dns' | 'targets' | 'dial'>;

/** Maximum number of addresses that are tried. Our own limit. */
const MAX_TRIED_ADDRESSES = 3;
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Returns a connection to the first address of the host that accepts it.
 * @throws SourceError
 */
export async function dialHost(
  app: DialApp,
  { host, port }: { host: string; port: number },
): Promise<Socket> {
  let failure: unknown;
  for (const address of (await findAddresses(app, host)).slice(0, MAX_TRIED_ADDRESSES)) {
    try {
      return await app.dial({ address, port, timeoutMs: CONNECT_TIMEOUT_MS });
    } catch (error) {
      failure = error;
    }
  }
  const reason = errorCode(failure) ?? errorMessage(failure);
  throw new SourceError('source_unavailable', `${host}:${port} cannot be connected to (${reason})`);
}

async function findAddresses({ dns, targets }: DialApp, host: string): Promise<string[]> {
  const answers: DnsAnswer<string>[] = await Promise.all([dns.fresh.a(host), dns.fresh.aaaa(host)]);
  const found = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  if (found.length === 0 && answers.some(({ kind }) => kind === 'failed'))
    throw new SourceError('source_unavailable', `The address of ${host} cannot be looked up`);
  const allowed = targets.keepAllowed(host, found);
  if (allowed.length > 0) return allowed;
  // A host that does not exist and one with private addresses are told in the same words (system/blocklist.ts).
  throw new SourceError('source_refused', `${host} ${NO_PUBLIC_ADDRESS}`);
}
