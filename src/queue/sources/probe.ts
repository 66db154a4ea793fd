/** Finds out whether mail can leave from an address of a source now, without any mail. */
import { isIPv6 } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { probeSource } from '../../system/dial/probe-source.ts';
import { SourceError } from '../../system/dial/source-failure.ts';
import { dialSource } from './dial-source.ts';
import type { Source } from './source.ts';

/** Maximum time of a probe. */
const PROBE_MS = 10_000;
/** Addresses that stand for hosts of their family. Nothing is sent there. */
const SOME_HOST = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' };

export type ProbeOne = typeof probeSource;

/** Returns why no mail can leave from an address of the source; undefined when it can. */
export async function findFault(
  clock: Clock,
  { source, address }: { source: Source; address: string },
  probeOne: ProbeOne = probeSource,
): Promise<string | undefined> {
  try {
    const host = isIPv6(address) ? SOME_HOST.ipv6 : SOME_HOST.ipv4;
    await probeOne(clock, await dialSource(source, host), PROBE_MS);
    return undefined;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return error.message;
  }
}
