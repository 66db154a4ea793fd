/** Decides which checks the operator is told of by mail, and writes the mail. */
import type { DoctorCheckRow, DoctorFindingRow } from '../db/own-tables.ts';
import type { Mailbox } from '../mail/address.ts';
import { writeMessageFields } from '../mail/message/compose.ts';
import { textEntity, wholeBody } from '../mail/message/entity.ts';
import { postmasterOf } from '../mail/postmaster.ts';
import { DAY_MS, isoTime } from '../system/clock.ts';
import { worstOf } from './check.ts';

/**
 * Minimum age of a warning that is mailed, in milliseconds: the next run has seen it too. Failures are mailed at once, except in the first
 * mail of an installation: while it is set up, its records and certificates cannot be there yet.
 */
const MIN_WARNING_AGE_MS = 1_800_000;

type State = { findings: readonly DoctorFindingRow[]; states: readonly DoctorCheckRow[]; now: number };

/**
 * Returns the findings to tell of: those of checks that are not silenced and about which no mail was sent within a day. A failure is
 * told of every day while it lasts, and a warning once after it has turned.
 */
export function findingsToReport({ findings, states, now }: State): DoctorFindingRow[] {
  const isFirstMail = states.every(({ mailedAt }) => mailedAt === null);
  const names = [...new Set(findings.map(({ checkName }) => checkName))];
  return names.flatMap((name) => {
    const rows = findings.filter(({ checkName }) => checkName === name);
    const { mailedAt = null, silencedAt = null } = states.find((state) => state.name === name) ?? {};
    if (silencedAt !== null || (mailedAt !== null && now - mailedAt < DAY_MS)) return [];
    const isNews = rows.some(
      ({ since }) => now - since >= MIN_WARNING_AGE_MS && (mailedAt === null || since > mailedAt),
    );
    return isNews || (!isFirstMail && worstOf(rows) === 'fail') ? rows : [];
  });
}

type Report = { id: string; hostname: string; to: Mailbox; findings: readonly DoctorFindingRow[] };

/** Returns the mail without `Date`, and the size of its header with the empty line. */
export function composeReport({ id, hostname, to, findings }: Report): {
  bytes: Buffer;
  headerBytes: number;
} {
  const checks = [...new Set(findings.map(({ checkName }) => checkName))];
  const worst = worstOf(findings) === 'fail' ? 'failed' : 'warning';
  const fields = writeMessageFields({
    from: postmasterOf(hostname),
    to: [to],
    cc: [],
    replyTo: [],
    subject: `${hostname}: ${worst}: ${checks.join(', ')}`,
    // A program wrote it without being asked (RFC 3834 section 5).
    headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    messageId: `${id}@${hostname}`,
  });
  const body = textEntity('plain', textOf(hostname, findings));
  const head = Buffer.from(`${fields}${body.fields}\r\n`);
  return { bytes: Buffer.concat([head, ...wholeBody(body)]), headerBytes: head.length };
}

function textOf(hostname: string, findings: readonly DoctorFindingRow[]): string {
  return [
    `This is the mail server ${hostname}. Its checks have found something to do.`,
    '',
    ...findings.flatMap(({ checkName, subject, level, says, advice, since }) => [
      `${level.toUpperCase()} ${checkName}: ${subject}`,
      `    ${says}.`,
      `    What to do: ${advice}.`,
      `    Since ${isoTime(since)}.`,
      '',
    ]),
    'Run "postrider doctor" to see how things are now.',
    'Run "postrider doctor --silence CHECK" to get no more mail about a check.',
    '',
  ].join('\n');
}
