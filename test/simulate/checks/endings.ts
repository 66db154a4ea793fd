/** Nothing that was accepted is lost: every recipient ends within its maximum age, or is held and visible. A bounce has a reason. */
import { recordsAt } from '../scripted-dns.ts';
import type { MakeCheck } from './check.ts';

const MINUTE_MS = 60_000;
/** Time after its expiry for which mail gets a last attempt, and the time between two sweeps for the rest (queue/overdue/). */
const SWEPT_WITHIN_MS = 15 * MINUTE_MS;
/** Time after a start of the daemon before the first sweep. */
const FIRST_SWEEP_MS = 30 * MINUTE_MS;
/** Longest time of the attempt or the failing commits that may be under way at the sweep. */
const UNDER_WAY_MS = 20 * MINUTE_MS;
const ENDED = new Set(['delivered', 'bounced', 'canceled', 'suppressed']);

export const checkEndings: MakeCheck = (plan, fail) => {
  const domains = new Map(plan.domains.map((domain) => [domain.name, domain]));
  const recipients = new Map(
    plan.mail.flatMap((mail) => mail.recipients.map((one) => [one.address, { ...one, mail }])),
  );
  const accepted = new Set<string>();
  const refused = new Set<string>();
  const setBackMs = plan.faults.clockSteps.reduce((sum, { byMs }) => sum + Math.max(0, -byMs), 0);
  let setMs = 0;
  let refusesAll = false;
  let firstSweepAt = 0;

  function hasReason(address: string, domain: string, at: number): boolean {
    if (refused.has(address) || refusesAll) return true;
    const { mail } = recipients.get(address)!;
    if (mail.requireTls) return true;
    // The clock of the daemon decides when mail expires. Mail is accepted at any setting of the clock.
    const isOld = at + setMs - mail.at >= mail.maxAgeMs || plan.faults.clockSteps.length > 0;
    if (isOld) return true;
    const { records } = domains.get(domain)!;
    return records.some(({ answer }) => answer.kind === 'no-name' || answer.kind === 'null-mx');
  }

  return {
    observe(observation, at) {
      switch (observation.kind) {
        case 'started':
          firstSweepAt = at + FIRST_SWEEP_MS;
          break;
        case 'clock-set':
          setMs += observation.byMs;
          break;
        case 'accepted':
          for (const address of observation.addresses) accepted.add(address);
          break;
        case 'refused':
          for (const address of observation.addresses) refused.add(address);
          refusesAll ||= observation.addresses.includes('*');
          break;
        case 'changed': {
          const { address, to } = observation;
          if (!ENDED.has(to)) break;
          const { mail, domain } = recipients.get(address)!;
          const expiredAt = mail.at + mail.maxAgeMs + setBackMs;
          const latest = Math.max(expiredAt, firstSweepAt) + SWEPT_WITHIN_MS + UNDER_WAY_MS;
          if (at > latest) fail(`${address} ended ${Math.round((at - latest) / 60_000)} minutes too late`);
          if (to === 'bounced' && !hasReason(address, domain, at))
            fail(`${address} bounced without a reason (${recordsAt(domains.get(domain)!, at).kind})`);
        }
      }
    },
    atEnd(stored) {
      const states = new Map(stored.recipients.map(({ address, state }) => [address, state]));
      for (const address of accepted) {
        const state = states.get(address);
        if (state === undefined) fail(`${address} is lost`);
        else if (!ENDED.has(state) && state !== 'held') fail(`${address} is still ${state} at the end`);
      }
    },
  };
};
