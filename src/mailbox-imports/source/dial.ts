/** Connects to the server that mail is imported from, at an address that anybody may connect to. */
import type { Socket } from 'node:net';
import { NO_PUBLIC_ADDRESS } from '../../system/blocklist.ts';
import type { DnsAnswer } from '../../system/dns.ts';
import type { System } from '../../system/system.ts';
import { NoImapServer, SourceError } from './source-error.ts';

/** Maximum number of addresses that are tried. */
const MAX_TRIED_ADDRESSES = 3;
/** Time for all of them together. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Returns a connection to the first of some addresses that accepts it.
 * @throws NoImapServer
 */
export async function dialFirst(
  { dial }: Pick<System, 'dial'>,
  addresses: readonly string[],
  server: { host: string; port: number },
): Promise<Socket> {
  let cause: unknown;
  for (const address of addresses) {
    try {
      const timeoutMs = CONNECT_TIMEOUT_MS / addresses.length;
      return await dial({ address, port: server.port, timeoutMs });
    } catch (error) {
      cause = error;
    }
  }
  throw new NoImapServer(server, { cause });
}

/**
 * Returns the addresses of a host that anybody may connect to, as many as are tried.
 * @throws SourceError
 */
export async function findAddresses(
  { dns, targets }: Pick<System, 'dns' | 'targets'>,
  host: string,
): Promise<string[]> {
  const answers: DnsAnswer<string>[] = await Promise.all([dns.fresh.a(host), dns.fresh.aaaa(host)]);
  const found = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  if (found.length === 0 && answers.some(({ kind }) => kind === 'failed'))
    throw new SourceError('source_unavailable', `The address of ${host} cannot be looked up`);
  const allowed = targets.keepAllowed(host, found);
  if (allowed.length > 0) return allowed.slice(0, MAX_TRIED_ADDRESSES);
  // A host that does not exist and one with private addresses are told in the same words (system/blocklist.ts).
  throw new SourceError('source_refused', `${host} ${NO_PUBLIC_ADDRESS}`);
}
