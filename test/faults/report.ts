/** The verdicts of the fault tests in figures a person reads. */
import type { BroadcastVerdict } from './broadcast/audit.ts';
import type { CutVerdict } from './cut-judge.ts';
import type { DeadlyVerdict } from './deaths.ts';
import type { FaultCyclesVerdict } from './fault-cycles.ts';
import type { Reckoning } from './finish.ts';
import type { InboundReckoning } from './inbound/place.ts';
import { faultsOf } from './judge.ts';
import type { KillVerdict } from './kill.ts';
import type { MailboxReport } from './mailboxes/place.ts';
import type { TerminateVerdict } from './terminate.ts';

const MAX_FAULTS_SHOWN = 10;

export function describeCuts(verdicts: readonly CutVerdict[]): string[] {
  const sum = (figure: (verdict: CutVerdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
  const moments = Object.entries(Object.groupBy(verdicts, ({ moment }) => moment));
  const faults = verdicts.flatMap((verdict) => verdict.faults);
  return [
    moments.map(([moment, some]) => `${some?.length} cuts (${moment})`).join(', '),
    `acknowledged before them: ${sum((one) => one.acknowledged)}, of which with a large file: ${sum((one) => one.withFile)}; ` +
      `other resources: ${sum((one) => one.promised)}`,
    `unflushed writes at the cuts: ${sum((one) => one.pendingWrites)}, pieces of them lost: ${sum((one) => one.lostPieces)}`,
    `acknowledged and missing: ${sum((one) => one.missing)}, unreadable: ${sum((one) => one.unreadable)}, ` +
      `canceled and not canceled: ${sum((one) => one.uncanceled)}`,
    ...describeFaults(faults),
  ];
}

/** Deaths that did not come where they were planned. */
export function unreached(verdict: KillVerdict): string[] {
  return verdict.deaths.filter(({ asPlanned }) => !asPlanned).map(({ at }) => at);
}

/** Everything of a reckoning that must not be. */
export function wrongIn({ judgement, faults }: Reckoning): string[] {
  return [...faultsOf(judgement), ...faults];
}

export function describeKills(verdict: KillVerdict): string[] {
  const { deaths } = verdict;
  const byPlace = Object.entries(Object.groupBy(deaths, ({ at }) => at));
  const slowest = Math.max(...deaths.map(({ startMs }) => startMs ?? 0));
  return [
    `${deaths.length} kills: ${byPlace.map(([at, some]) => `${at} ${some?.length}`).join(', ')}`,
    `slowest start: ${Math.round(slowest)} ms`,
    ...unreached(verdict).map((at) => `not reached in time: ${at}`),
    ...describeReckoning(verdict),
  ];
}

export function describeFaultCycles(verdict: FaultCyclesVerdict): string[] {
  const { accepted, refused, gone, arrived } = verdict.during;
  return [
    `${verdict.cycles} times; slowest recovery: ${Math.round(verdict.slowestRecoveryMs)} ms`,
    `while it lasted: accepted ${accepted}, refused ${refused}, without an answer ${gone}, arrived ${arrived}`,
    ...describeReckoning(verdict),
  ];
}

export function describeBroadcasts(verdicts: readonly BroadcastVerdict[]): string[] {
  const sum = (figure: (verdict: BroadcastVerdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
  return [
    `${sum((one) => one.broadcasts)} broadcasts to ${sum((one) => one.contacts)} contacts; received: ${sum((one) => one.received)}, ` +
      `of which again after an end: ${sum((one) => one.duplicates)}, at most ${Math.max(...verdicts.map((one) => one.maxDuplicatesOfAnEnd))} after one`,
    ...describeFaults(verdicts.flatMap(({ faults }) => faults)),
  ];
}

export function describeInbound(verdicts: readonly InboundReckoning[]): string[] {
  const sum = (figure: (verdict: InboundReckoning['inbound']) => number) =>
    verdicts.reduce((total, { inbound }) => total + figure(inbound), 0);
  return [
    `letters: ${sum((one) => one.letters)}; answered with 250: ${sum((one) => one.acknowledged)}, ` +
      `stored without an answer: ${sum((one) => one.unanswered)}, lost: ${sum((one) => one.lost)}`,
    `emails to a route: ${sum((one) => one.local)}, of which handed over again after an end: ${sum((one) => one.repeatedLocal)}`,
    `posts: ${sum((one) => one.posts)}, of which again after an end: ${sum((one) => one.repeatedPosts)}`,
    `in the mailbox: ${sum((one) => one.delivered)}`,
    `forwarded: ${sum((one) => one.forwards)}, senders told: ${sum((one) => one.notifications)}, reports sent: ${sum((one) => one.sentReports)}; ` +
      `of these again after an end: ${sum((one) => one.repeatedMail)}`,
    `unexplained duplicates: ${sum((one) => one.unexplained)}; ` +
      `held after five interrupted attempts, and released: ${verdicts.reduce((total, { released }) => total + released, 0)}`,
    ...describeFaults(verdicts.flatMap(({ inbound }) => inbound.faults)),
    ...verdicts.flatMap(({ outbound }) =>
      outbound.acknowledged > 0 ? describeReckoning(outbound) : describeFaults(wrongIn(outbound)),
    ),
  ];
}

export function describeMailboxes({ done, figures, faults }: MailboxReport): string[] {
  const changes = Object.entries(figures.changes).map(([kind, count]) => `${kind} ${count}`);
  return [
    done,
    `changes answered with OK: ${changes.join(', ')}; without an answer: made ${figures.openDone}, not made ${figures.openUndone}`,
    `letters answered with 250: ${figures.accepted}; delivered, with those without an answer: ${figures.delivered}`,
    ...(figures.inDoubt > 0 ? [`answered while the disk failed, and in doubt: ${figures.inDoubt}`] : []),
    `readings of a mailbox: ${figures.readings}, with ${figures.messages} messages in all`,
    ...describeFaults(faults),
  ];
}

export function describeTerminations(verdict: TerminateVerdict): string[] {
  return [
    `${verdict.cycles} times; slowest end: ${Math.round(verdict.slowestEndMs)} ms`,
    ...describeReckoning(verdict),
  ];
}

export function describeDeaths(verdict: DeadlyVerdict): string[] {
  return [
    `${verdict.cycles} times; slowest end: ${Math.round(verdict.slowestEndMs)} ms`,
    `accepted between the fault and the end: ${verdict.acceptedAfter}, of which forgotten: ${verdict.forgotten}`,
    ...describeReckoning(verdict),
  ];
}

export function describeReckoning(reckoning: Reckoning): string[] {
  const { acknowledged, withFile, canceled, promised, repeated, received, judgement } = reckoning;
  return [
    `acknowledged: ${acknowledged}, of which with a large file: ${withFile}, canceled: ${canceled}; ` +
      `requests repeated: ${repeated}; other resources: ${promised}`,
    `received: ${received}, of which again after an end: ${judgement.duplicates}; ` +
      `lost: ${judgement.lost.length}, unexplained duplicates: ${judgement.unexplained.length}`,
    ...describeFaults(wrongIn(reckoning)),
  ];
}

/** Counts equal sentences, and shows the first ones. */
export function describeFaults(faults: readonly string[]): string[] {
  const counted = Object.entries(Object.groupBy(faults, (fault) => fault));
  const shown = counted.slice(0, MAX_FAULTS_SHOWN).map(([fault, some]) => `${some?.length} x ${fault}`);
  const rest = counted.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}
