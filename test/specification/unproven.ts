/** Compares the proofs that the specification table names with what a run of the tests reported. */
import type { Outcome } from '../support/run-files.ts';
import { OTHER_ENDPOINTS } from './other-endpoints.ts';
import { RESOURCES } from './resources.ts';
import { RULES } from './rules.ts';
import { SENDING_ENDPOINTS } from './sending-endpoints.ts';
import { STATES } from './states.ts';
import { type Section, TO_COME } from './table.ts';

export const SECTIONS: readonly Section[] = [
  ...RESOURCES,
  ...STATES,
  ...SENDING_ENDPOINTS,
  ...OTHER_ENDPOINTS,
  ...RULES,
];

/** Splits `emails/send.test.ts: name of the test`. */
export function splitProof(proof: string): { file: string; name: string } {
  const [file = '', name = ''] = proof.split(/(?<=\.test\.ts): (.*)/s);
  return { file, name };
}

/**
 * Returns two lines for each proof that is not the name of a test that passed. Only proofs in files that were run are
 * judged. A skipped test proves nothing.
 */
export function unproven(
  outcomes: readonly Pick<Outcome, 'file' | 'events'>[],
  sections = SECTIONS,
): string[] {
  const passed = new Map(outcomes.map(({ file, events }) => [file, passedNames(events)]));
  return sections.flatMap(({ title, statements }) =>
    Object.entries(statements).flatMap(([statement, proof]) => {
      const { file, name } = splitProof(proof);
      if (proof === TO_COME || passed.get(`test/${file}`)?.has(name) !== false) return [];
      return [`${title}: ${statement}\n    no test of test/${file} passed as "${name}"`];
    }),
  );
}

function passedNames(events: Outcome['events']): ReadonlySet<string> {
  const passes = events.filter(
    ({ type, data }) => type === 'test:pass' && data.nesting === 0 && !('skip' in data) && !('todo' in data),
  );
  return new Set(passes.map(({ data }) => data.name ?? ''));
}
