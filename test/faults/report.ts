/** The verdicts of the fault tests in figures a person reads. */
import type { CutVerdict } from './cut-judge.ts';
import type { KillVerdict } from './kill.ts';

const MOST_FAULTS_SHOWN = 10;

export function lostIn(verdict: CutVerdict): number {
  return verdict.missing + verdict.unreadable;
}

export function describeCuts(verdicts: readonly CutVerdict[]): string[] {
  const sum = (figure: (verdict: CutVerdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
  const moments = Object.entries(Object.groupBy(verdicts, ({ moment }) => moment));
  const faults = verdicts.flatMap((verdict) => verdict.faults);
  return [
    moments.map(([moment, some]) => `${some?.length} cuts (${moment})`).join(', '),
    `acknowledged before them: ${sum((one) => one.acknowledged)}, of which large: ${sum((one) => one.acknowledgedLarge)}`,
    `unflushed writes at the cuts: ${sum((one) => one.pendingWrites)}, pieces of them lost: ${sum((one) => one.lostPieces)}`,
    `acknowledged and missing: ${sum((one) => one.missing)}, unreadable: ${sum((one) => one.unreadable)}`,
    ...describeFaults(faults),
  ];
}

/** Deaths that did not come where they were planned. */
export function unreached(verdict: KillVerdict): string[] {
  return verdict.deaths.filter(({ asPlanned }) => !asPlanned).map(({ at }) => at);
}

export function describeKills(verdict: KillVerdict): string[] {
  const { deaths, judgement } = verdict;
  const byPlace = Object.entries(Object.groupBy(deaths, ({ at }) => at));
  const slowest = Math.max(...deaths.map(({ startMs }) => startMs ?? 0));
  return [
    `${deaths.length} kills: ${byPlace.map(([at, some]) => `${at} ${some?.length}`).join(', ')}`,
    `acknowledged: ${verdict.acknowledged}, of which large: ${verdict.acknowledgedLarge}; requests repeated: ${verdict.repeated}`,
    `received: ${verdict.received}, of which again after a kill: ${judgement.duplicates}; slowest start: ${Math.round(slowest)} ms`,
    `lost: ${judgement.lost.length}, unexplained duplicates: ${judgement.unexplained.length}, ` +
      `changed in between: ${judgement.changed.length}, strangers: ${judgement.strangers.length}`,
    ...unreached(verdict).map((at) => `not reached in time: ${at}`),
    ...describeFaults(verdict.faults),
  ];
}

function describeFaults(faults: readonly string[]): string[] {
  const counted = Object.entries(Object.groupBy(faults, (fault) => fault));
  const shown = counted.slice(0, MOST_FAULTS_SHOWN).map(([fault, some]) => `${some?.length} x ${fault}`);
  const rest = counted.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}
