/** Shows findings of checks as lines for people. */
import type { Finding, Level } from '../doctor/check.ts';
import { printable } from './table.ts';

const LABELS: Readonly<Record<Level, string>> = { ok: 'OK  ', warn: 'WARN', fail: 'FAIL' };

/** Returns a line for each finding, and another one that says what to do. `noteOf` adds a remark to a line. */
export function findingLines(
  findings: readonly Finding[],
  { width = MIN_WIDTH, noteOf = () => '' }: { width?: number; noteOf?: (finding: Finding) => string } = {},
): string[] {
  return findings.flatMap((finding) => {
    const { check, subject, level, says, advice } = finding;
    const line = `${LABELS[level]}  ${check.padEnd(width)}  ${printable(`${subject}: ${says}`)}${noteOf(finding)}`;
    return advice === '' ? [line] : [line, `${' '.repeat(width + 8)}-> ${printable(advice)}`];
  });
}

/** Minimum width of the names of checks, so that lines that are shown one after the other are aligned. */
const MIN_WIDTH = 13;
