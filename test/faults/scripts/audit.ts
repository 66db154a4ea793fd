/**
 * Says what became of letters to mailboxes with a script through faults: each that was stored is in both folders once, was redirected once
 * and notified of once, and its sender got one reply, however many letters came. All actions of a letter are
 * those of one version of the script, which changes with each start. Mail arrives again only after an end that hit its delivery.
 */
import { judgeRepeats, type Receipt } from '../judge.ts';
import type { FoundFolder } from '../mailboxes/audit.ts';
import {
  FILED,
  FRIEND,
  type Letter,
  mailboxOf,
  messageIdOf,
  nameOf,
  PHONE,
  senderOf,
  VERSION,
} from './letter.ts';

export type ScriptFacts = {
  letters: readonly Letter[];
  /** Message-IDs of what this installation has received. */
  received: readonly string[];
  /** The folders of each mailbox. */
  mailboxes: readonly (readonly FoundFolder[])[];
  /** Messages that the scripts have sent, as they arrived. */
  receipts: readonly Receipt[];
  /** Number of rows that should have been deleted with the deliveries they are about. */
  leftRows: number;
  endOfLifeMs: readonly number[];
};

export type ScriptVerdict = {
  letters: number;
  acknowledged: number;
  /** Letters that were stored. */
  stored: number;
  redirects: number;
  notifications: number;
  replies: number;
  /** Mail that arrived again after an end that hit its delivery. */
  repeated: number;
  faults: string[];
};

/** Judges the letters. Pure: facts in, verdict out. */
export function judgeScripts(facts: ScriptFacts): ScriptVerdict {
  const { letters, receipts, endOfLifeMs, leftRows } = facts;
  const taken = judgeTaken(facts);
  const byMessage = Map.groupBy(receipts, ({ recipient, messageId }) => `${recipient} ${messageId}`);
  const repeats = judgeRepeats(byMessage, endOfLifeMs);
  const first = [...byMessage.values()].flatMap(([receipt]) => receipt ?? []);
  const { redirects = [], notifications = [], replies = [] } = Object.groupBy(first, kindOf);
  const names = [...taken.stored.keys()];
  const senders = new Set([...taken.stored.values()].map(senderOf));
  const faults = [
    ...taken.faults,
    ...judgeFolders(facts, taken.stored),
    ...judgeVersions(facts, notifications),
    ...once(
      'redirect',
      names.map((name) => `<${messageIdOf(name)}>`),
      redirects.map(({ messageId }) => messageId),
    ),
    ...once('notification', names, notifications.map(subjectOf)),
    ...once(
      'reply',
      [...senders],
      replies.map(({ recipient }) => recipient),
    ),
    ...repeats.unexplained.map(() => 'sent: it came twice, without an end of the daemon in between'),
    ...repeats.changed.map(() => 'sent: it came again and was another'),
    ...(leftRows > 0 ? [`${leftRows} rows are left of deliveries that have ended`] : []),
  ];
  return {
    letters: letters.length,
    acknowledged: letters.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    stored: names.length,
    redirects: redirects.length,
    notifications: notifications.length,
    replies: replies.length,
    repeated: repeats.duplicates,
    faults,
  };
}

function kindOf({ recipient }: Receipt): 'redirects' | 'notifications' | 'replies' {
  if (recipient === FRIEND) return 'redirects';
  return recipient === PHONE ? 'notifications' : 'replies';
}

function subjectOf({ header }: Receipt): string {
  return /^Subject: (\S+)/m.exec(header)?.[1] ?? '';
}

/** Compares names that are to come once each with those that came. */
function once(what: string, expected: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  const missing = expected.filter((name) => !counts.has(name));
  const strangers = [...counts.keys()].filter((name) => !expected.includes(name));
  const several = [...counts.values()].filter((count) => count > 1);
  return [
    ...missing.map(() => `${what}: it never came`),
    ...strangers.map(() => `${what}: nothing has led to it`),
    ...several.map((count) => `${what}: ${count} were sent`),
  ];
}

/** Returns the transmissions that were stored by their names. What was answered with 250 is stored, and what was refused is not. */
function judgeTaken({ letters, received }: ScriptFacts): { stored: Map<string, Letter>; faults: string[] } {
  const counts = Map.groupBy(received, (messageId) => messageId);
  const stored = new Map<string, Letter>();
  const faults: string[] = [];
  for (const letter of letters)
    for (let transmission = 1; transmission <= letter.transmissions; transmission++) {
      const name = nameOf(letter, transmission);
      const count = counts.get(messageIdOf(name))?.length ?? 0;
      counts.delete(messageIdOf(name));
      if (count > 0) stored.set(name, letter);
      if (count === 0 && letter.acknowledged.has(name)) faults.push('letter: answered with 250, and lost');
      if (count > 0 && letter.refused.has(name)) faults.push('letter: refused, and stored');
      if (count > 1) faults.push('letter: stored twice');
    }
  if (counts.size > 0) faults.push(`letter: ${counts.size} strangers`);
  return { stored, faults };
}

/** Each folder has each letter of its mailbox once, with the flags of the script, and nothing else. */
function judgeFolders({ mailboxes }: ScriptFacts, stored: ReadonlyMap<string, Letter>): string[] {
  return mailboxes.flatMap((folders, mailbox) => {
    const own = [...stored].filter(([, letter]) => mailboxOf(letter) === mailbox).map(([name]) => name);
    return Object.entries(FILED).flatMap(([folder, flags]) => {
      const messages = folders.find(({ name }) => name === folder)?.messages ?? [];
      const tokens = messages.map(({ token }) => token);
      return [
        ...once(folder, own, tokens),
        ...messages.flatMap((message) => {
          const others = message.flags.replace(VERSION, '').split(' ').filter(Boolean).join(' ');
          return others === flags ? [] : [`${folder}: ${others}`];
        }),
        ...messages.flatMap(({ isWhole }) =>
          isWhole ? [] : [`${folder}: the bytes are not those that came`],
        ),
      ];
    });
  });
}

/** The actions of a letter were decided once, by one version of the script. */
function judgeVersions({ mailboxes }: ScriptFacts, notifications: readonly Receipt[]): string[] {
  const told = [
    ...mailboxes
      .flat()
      .flatMap(({ messages }) => messages.map(({ token, flags }) => [token, flags] as const)),
    ...notifications.map((receipt) => [subjectOf(receipt), receipt.header] as const),
  ];
  const versions = new Map<string, Set<string | undefined>>();
  for (const [name, text] of told) {
    const known = versions.get(name) ?? new Set();
    versions.set(name, known.add(VERSION.exec(text)?.[0]));
  }
  return [...versions.values()].flatMap((known) =>
    known.size > 1 ? [`script: one letter had actions of ${known.size} versions`] : [],
  );
}
