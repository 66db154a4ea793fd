/**
 * Says what became of mail that people and applications have handed in through faults: what was answered with 250 has arrived, or its
 * writer was told once that it has not. What was refused has not arrived, and an application's message has arrived once for each of its
 * Idempotency-Keys.
 */
import { endedInDoubt } from '../doubt.ts';
import type { ReceivedRow } from '../inbound/audit.ts';
import type { MailboxFacts } from '../inbound/mailbox.ts';
import { judgeRepeats, type Receipt } from '../judge.ts';
import type { Result } from '../part.ts';
import { summing } from '../report.ts';
import { HOSTNAME } from '../world.ts';
import { filesOf, type Mail, namesOf, recipientOf } from './mail.ts';

export type SubmissionFacts = {
  mail: readonly Mail[];
  /** Messages that have arrived at other servers. */
  receipts: readonly Receipt[];
  /** Messages that this installation has received. */
  rows: readonly Pick<ReceivedRow, 'messageId' | 'atMs'>[];
  /** The mailbox of the reader, and that of the person whose mail is refused. */
  reader: MailboxFacts;
  refusedWriter: MailboxFacts;
  /** Number of rows that should have been deleted with the mail they are about. */
  leftRows: number;
  /** Number of recipients that were counted for the people. */
  counted: number;
  endOfLifeMs: readonly number[];
};

export type SubmissionVerdict = {
  /** Messages, and their transmissions that were answered with 250. */
  mail: number;
  acknowledged: number;
  /** Messages that arrived at other servers, messages of the reader, and reports. */
  away: number;
  here: number;
  reports: number;
  /** Mail that arrived again after an end that hit its delivery. */
  repeated: number;
  faults: string[];
};

/** Judges the mail. Pure: facts in, verdict out. */
export function judgeSubmission(facts: SubmissionFacts): SubmissionVerdict {
  const away = judgeAway(facts);
  const here = judgeHere(facts);
  const reports = judgeReports(facts);
  const counted = away.ofPeople + here.messages + reports.count;
  return {
    mail: facts.mail.length,
    acknowledged: facts.mail.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    away: away.messages,
    here: here.messages,
    reports: reports.count,
    repeated: away.repeated + here.repeated,
    faults: [
      ...away.faults,
      ...here.faults,
      ...reports.faults,
      ...(facts.leftRows > 0 ? [`${facts.leftRows} rows are left of mail that has ended`] : []),
      ...(facts.counted === counted
        ? []
        : [`${facts.counted} recipients were counted, and ${counted} messages taken`]),
    ],
  };
}

/** A message that may arrive at a recipient. */
type Expected = { isPromised: boolean; isRefused: boolean; files: string; isOfPerson: boolean };

function expectedAway(mail: readonly Mail[]): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const one of mail) {
    const files = filesOf(one).join();
    if (one.kind === 'application') {
      const isRefused = namesOf(one).every((name) => one.refused.has(name));
      const isPromised = one.acknowledged.size > 0;
      expected.set(recipientOf(one, 1), { isPromised, isRefused, files, isOfPerson: false });
    }
    if (one.kind === 'away')
      for (const [index, name] of namesOf(one).entries()) {
        const isPromised = one.acknowledged.has(name);
        const isRefused = one.refused.has(name);
        expected.set(recipientOf(one, index + 1), { isPromised, isRefused, files, isOfPerson: true });
      }
  }
  return expected;
}

function judgeAway({ mail, receipts, endOfLifeMs }: SubmissionFacts) {
  const expected = expectedAway(mail);
  const byRecipient = Map.groupBy(receipts, ({ recipient }) => recipient);
  const repeats = judgeRepeats(byRecipient, endOfLifeMs);
  const wrong: Record<string, number> = {
    'away: answered with 250, and lost': [...expected].filter(
      ([recipient, { isPromised }]) => isPromised && !byRecipient.has(recipient),
    ).length,
    'away: refused, and sent': [...expected].filter(
      ([recipient, { isRefused }]) => isRefused && byRecipient.has(recipient),
    ).length,
    'away: nobody has handed it in': [...byRecipient.keys()].filter((recipient) => !expected.has(recipient))
      .length,
    'away: it came twice, without an end of the daemon in between': repeats.unexplained.length,
    'away: it came again and was another': repeats.changed.length,
    'away: its file is another': receipts.filter(
      ({ recipient, attachments }) => (expected.get(recipient)?.files ?? '') !== attachments.join(),
    ).length,
    'application: one key, several emails': mail.filter(
      ({ kind, acknowledged }) => kind === 'application' && new Set(acknowledged.values()).size > 1,
    ).length,
  };
  return {
    messages: byRecipient.size,
    ofPeople: [...byRecipient.keys()].filter((recipient) => expected.get(recipient)?.isOfPerson).length,
    repeated: repeats.duplicates,
    faults: repeated(wrong),
  };
}

function repeated(wrong: Readonly<Record<string, number>>): string[] {
  return Object.entries(wrong).flatMap(([fault, count]) => Array.from({ length: count }, () => fault));
}

/** Each message to the reader is received once, and again only after an end that hit its delivery. What is received is in the mailbox once. */
function judgeHere({ mail, rows, reader, endOfLifeMs }: SubmissionFacts) {
  const byName = Map.groupBy(rows, ({ messageId }) => messageId);
  const verdict = { messages: 0, repeated: 0, faults: [] as string[] };
  for (const one of mail.filter(({ kind }) => kind === 'here'))
    for (const name of namesOf(one)) {
      const found = (byName.get(name) ?? []).toSorted((a, b) => a.atMs - b.atMs);
      byName.delete(name);
      if (found.length > 0) verdict.messages += 1;
      if (found.length === 0 && one.acknowledged.has(name))
        verdict.faults.push('here: answered with 250, and lost');
      if (found.length > 0 && one.refused.has(name)) verdict.faults.push('here: refused, and sent');
      for (const [index, { atMs }] of found.entries()) {
        const earlier = found[index - 1];
        if (!earlier) continue;
        if (endedInDoubt(earlier.atMs, atMs, endOfLifeMs)) verdict.repeated += 1;
        else verdict.faults.push('here: it came twice, without an end of the daemon in between');
      }
    }
  if (byName.size > 0) verdict.faults.push(`here: ${byName.size} strangers`);
  const counts = new Map(reader.messages);
  for (const { messageId } of rows) counts.set(messageId, (counts.get(messageId) ?? 0) - 1);
  const others = [...counts.values()].filter((count) => count !== 0).length;
  if (others > 0)
    verdict.faults.push(`here: ${others} messages are in the mailbox another number of times than they came`);
  verdict.faults.push(...reader.faults);
  return verdict;
}

/** A report has the id of its message, and its number among the reports about that message. */
const REPORT = new RegExp(`^(em_\\w+)\\.(\\d+)@${HOSTNAME}$`);

/** Each refused message that was taken is reported once. */
function judgeReports({ mail, refusedWriter }: SubmissionFacts) {
  const refused = mail.filter(({ kind }) => kind === 'refused');
  const promised = refused.flatMap(({ acknowledged }) => [...acknowledged.values()]);
  const unread = refused.flatMap((one) =>
    namesOf(one).filter((name) => !one.acknowledged.has(name) && !one.refused.has(name)),
  );
  const { messages, faults: damages } = refusedWriter;
  const told = [...messages.keys()].flatMap((name) => REPORT.exec(name)?.[1] ?? []);
  const others = told.filter((id) => !promised.includes(id)).length;
  const wrong: Record<string, number> = {
    'report: answered with 250, and nobody was told': promised.filter((id) => !told.includes(id)).length,
    'report: told twice': [...messages].filter(
      ([name, count]) => count !== 1 || REPORT.exec(name)?.[2] !== '1',
    ).length,
    'report: about a message that was not taken': Math.max(0, others - unread.length),
  };
  return { count: told.length, faults: [...damages, ...repeated(wrong)] };
}

/** Returns the verdicts in figures that a person reads. */
export function describeSubmission(verdicts: readonly SubmissionVerdict[], done: string): Result {
  const sum = summing(verdicts);
  return {
    lines: [
      done,
      `messages handed in: ${sum((one) => one.mail)}; answered with 250: ${sum((one) => one.acknowledged)}`,
      `arrived elsewhere: ${sum((one) => one.away)}, here: ${sum((one) => one.here)}, reported: ${sum((one) => one.reports)}; ` +
        `again after an end: ${sum((one) => one.repeated)}`,
    ],
    faults: verdicts.flatMap(({ faults }) => faults),
  };
}
