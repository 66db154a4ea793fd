/** The listeners of the name server: UDP and TCP on the same port of each address (RFC 7766 section 5). */
import type { Config } from '../../config/config.ts';
import { listenAt } from '../../system/listen.ts';
import { listenUdp } from '../../system/listen-udp.ts';
import type { System } from '../../system/system.ts';
import type { Responder } from '../respond.ts';
import { listenTcp } from './tcp.ts';

type NameServerListeners = {
  /** Addresses and ports that are listened on. */
  addresses: readonly string[];
  close(graceMs: number): Promise<void>;
};

const SECTION = 'nameserver';

/**
 * Starts to listen on all addresses, or on none.
 * @throws ListenError
 */
export async function openListeners(
  system: Pick<System, 'clock' | 'metrics'>,
  { addresses, port }: Config['nameserver'],
  { respondToDatagram, respondToSegment }: Responder,
): Promise<NameServerListeners> {
  await using opened = new AsyncDisposableStack();
  const listening: string[] = [];
  for (const wanted of addresses) {
    await listenAt(wanted, async (address) => {
      const tcp = await listenTcp(system, { at: { address, port }, answer: respondToSegment });
      opened.defer(() => tcp.close(0));
      const at = { address, port: portOf(tcp.address) };
      const udp = await listenUdp({ section: SECTION, at, answer: respondToDatagram });
      opened.defer(() => udp.close());
      listening.push(tcp.address);
    });
  }
  const open = opened.move();
  return { addresses: listening, close: () => open.disposeAsync() };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
