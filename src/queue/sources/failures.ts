/**
 * Decides when a source has failed. A proxy that cannot be reached, and an address that this machine does not have, fail at once.
 * A proxy that refuses single connections may be right about these hosts, so it fails when it has refused several hosts, and
 * has connected to none meanwhile.
 */

import type { SourceError } from '../../system/dial/source-failure.ts';
import { createLru } from '../../system/lru.ts';

/** Number of hosts that a proxy refuses in succession until it has failed. Our own limit. */
const MAX_REFUSED_HOSTS = 3;
/** Maximum number of sources whose refusals are remembered. */
const MAX_SOURCES = 1_024;

export class SourceFailures {
  readonly #refused = createLru<string, ReadonlySet<string>>(MAX_SOURCES);

  connected(source: string): void {
    this.#refused.delete(source);
  }

  /** Notes a failed connection to a host. Returns true when the source has failed. */
  failed(source: string, host: string, { fault }: Pick<SourceError, 'fault'>): boolean {
    const refused = new Set(this.#refused.get(source)).add(host);
    const hasFailed = fault === 'unusable' || refused.size >= MAX_REFUSED_HOSTS;
    if (hasFailed) this.#refused.delete(source);
    else this.#refused.set(source, refused);
    return hasFailed;
  }
}
