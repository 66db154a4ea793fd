/**
 * Proof by a record that is written for one order (DNS-01, RFC 8555 section 8.4), where this installation writes the DNS of the
 * name: in the zone of its name server, or by dynamic updates. No port has to be open for it.
 */
import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import type { ZoneTexts } from '../../nameserver/texts.ts';
import { sleep } from '../../system/clock.ts';
import type { Solver } from './solver.ts';

/** Wait between two looks for the record, in milliseconds. */
const LOOK_MS = 5_000;
/** Maximum number of looks. The secondary servers of a zone follow their primary within seconds. */
const MAX_LOOKS = 12;

function recordName(name: string): string {
  return `_acme-challenge.${name}`;
}

/** Returns the solver. It offers a record once DNS has it, since an authority counts each record that it does not find. */
export function createDnsSolver({ dns, clock }: Pick<App, 'dns' | 'clock'>, texts: ZoneTexts): Solver {
  async function isSeen(name: string, value: string, signal: AbortSignal): Promise<boolean> {
    for (let looks = 1; ; looks += 1) {
      const answer = await dns.fresh.txt(name);
      if (answer.kind === 'found' && answer.records.includes(value)) return true;
      if (looks === MAX_LOOKS) return false;
      await sleep(clock, LOOK_MS, signal);
      signal.throwIfAborted();
    }
  }

  return {
    type: 'dns-01',
    findObstacle: async (name) =>
      texts.hasName(recordName(name))
        ? undefined
        : 'neither the name server nor dns.update writes the DNS of the name',
    async offer({ name, keyAuthorization, signal }) {
      const record = recordName(name);
      const value = createHash('sha256').update(keyAuthorization).digest('base64url');
      if (!(await texts.setTxt(record, value))) return undefined;
      await using offer = new AsyncDisposableStack();
      offer.defer(() => texts.removeTxt(record, value));
      return (await isSeen(record, value, signal)) ? offer.move() : undefined;
    },
  };
}
