/** Decides the mail of a site that is sent nowhere: that of the simulator, or of a domain that DNS has ruled out. */
import type { RecipientRow } from '../../db/tables.ts';
import type { Clock } from '../../system/clock.ts';
import type { Claim } from '../claim.ts';
import type { Verdict } from '../outcome/outcome.ts';
import type { Site } from '../site/site.ts';
import type { Transport } from './transport.ts';

type Judge = (claim: Claim) => Map<RecipientRow['id'], Verdict>;

/** Returns the transport of the site. `judge` returns the verdict for each recipient of a claim. */
export function createJudgedTransport(clock: Clock, site: Pick<Site, 'pace'>, judge: Judge): Transport {
  return {
    isConnected: false,
    isLost: false,
    idleMs: 0,
    open: async () => undefined,
    async transact(claim) {
      const verdicts = judge(claim);
      site.pace.delivered(clock.elapsed());
      return { kind: 'judged', verdicts, undecided: undefined, signature: null, durationMs: 0 };
    },
    closeWhenFull: async () => {},
    close: async () => {},
  };
}
