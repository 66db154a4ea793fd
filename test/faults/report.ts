/** The verdicts of the fault tests in figures that a person reads, with everything that is wrong. */
import type { BroadcastVerdict } from './broadcast/audit.ts';
import { type CutVerdict, lostIn } from './cut-judge.ts';
import type { Reckoning } from './finish.ts';
import type { InboundReckoning } from './inbound/place.ts';
import { faultsOf } from './judge.ts';
import type { Result } from './part.ts';

const MAX_FAULTS_SHOWN = 10;

/** Returns the sum of a figure over several verdicts. */
export function summing<Verdict>(verdicts: readonly Verdict[]) {
  return (figure: (verdict: Verdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
}

export function describeCuts(verdicts: readonly CutVerdict[]): Result {
  const sum = summing(verdicts);
  const moments = Object.entries(Object.groupBy(verdicts, ({ moment }) => moment));
  const lost = sum(lostIn);
  return {
    lines: [
      moments.map(([moment, some]) => `${some?.length} cuts (${moment})`).join(', '),
      `acknowledged before them: ${sum((one) => one.acknowledged)}, of which with a large file: ${sum((one) => one.withFile)}; ` +
        `other resources: ${sum((one) => one.promised)}`,
      `unflushed writes at the cuts: ${sum((one) => one.pendingWrites)}, pieces of them lost: ${sum((one) => one.lostPieces)}`,
      `acknowledged and missing: ${sum((one) => one.missing)}, unreadable: ${sum((one) => one.unreadable)}, ` +
        `canceled and not canceled: ${sum((one) => one.uncanceled)}`,
    ],
    faults: [
      ...(lost > 0 ? [`${lost} acknowledged changes are lost`] : []),
      ...verdicts.flatMap(({ faults }) => faults),
    ],
  };
}

/** Everything of a reckoning that must not be. */
export function wrongIn({ judgement, faults }: Reckoning): string[] {
  return [...faultsOf(judgement), ...faults];
}

export function describeBroadcasts(verdicts: readonly BroadcastVerdict[], done: string): Result {
  const sum = summing(verdicts);
  return {
    lines: [
      done,
      `${sum((one) => one.broadcasts)} broadcasts to ${sum((one) => one.contacts)} contacts; received: ${sum((one) => one.received)}, ` +
        `of which again after an end: ${sum((one) => one.duplicates)}, at most ${Math.max(...verdicts.map((one) => one.maxDuplicatesOfAnEnd))} after one`,
    ],
    faults: verdicts.flatMap(({ faults }) => faults),
  };
}

export function describeInbound(verdicts: readonly InboundReckoning[], done: string): Result {
  const sum = summing(verdicts.map(({ inbound }) => inbound));
  const outbound = verdicts.map((verdict) => describeReckoning(verdict.outbound));
  return {
    lines: [
      done,
      `letters: ${sum((one) => one.letters)}; answered with 250: ${sum((one) => one.acknowledged)}, ` +
        `stored without an answer: ${sum((one) => one.unanswered)}, lost: ${sum((one) => one.lost)}`,
      `emails to a route: ${sum((one) => one.local)}, of which handed over again after an end: ${sum((one) => one.repeatedLocal)}`,
      `posts: ${sum((one) => one.posts)}, of which again after an end: ${sum((one) => one.repeatedPosts)}`,
      `in the mailbox: ${sum((one) => one.delivered)}`,
      `forwarded: ${sum((one) => one.forwards)}, senders told: ${sum((one) => one.notifications)}, reports sent: ${sum((one) => one.sentReports)}; ` +
        `of these again after an end: ${sum((one) => one.repeatedMail)}`,
      `unexplained duplicates: ${sum((one) => one.unexplained)}; ` +
        `held after five interrupted attempts, and released: ${summing(verdicts)(({ released }) => released)}`,
      ...outbound.flatMap(({ lines }) => lines),
    ],
    faults: [
      ...verdicts.flatMap(({ inbound }) => inbound.faults),
      ...outbound.flatMap(({ faults }) => faults),
    ],
  };
}

export function describeReckoning(reckoning: Reckoning): Result {
  const { acknowledged, withFile, canceled, promised, repeated, received, judgement } = reckoning;
  return {
    lines: [
      `acknowledged: ${acknowledged}, of which with a large file: ${withFile}, canceled: ${canceled}; ` +
        `requests repeated: ${repeated}; other resources: ${promised}`,
      `received: ${received}, of which again after an end: ${judgement.duplicates}; ` +
        `lost: ${judgement.lost.length}, unexplained duplicates: ${judgement.unexplained.length}`,
    ],
    faults: wrongIn(reckoning),
  };
}

/** Counts equal sentences, and shows the first ones. */
export function describeFaults(faults: readonly string[]): string[] {
  const counted = Object.entries(Object.groupBy(faults, (fault) => fault));
  const shown = counted.slice(0, MAX_FAULTS_SHOWN).map(([fault, some]) => `${some?.length} x ${fault}`);
  const rest = counted.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}
