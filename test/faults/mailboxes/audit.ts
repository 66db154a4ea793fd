/**
 * Says what became of a mailbox through faults: it is what its client was told, with the one change that had no answer or without it,
 * and with letters that were delivered meanwhile, each once. UIDs name the same messages for ever, and no number goes back.
 */
import { type Change, changed, type Flags, type KnownFolder, type Model } from './model.ts';

/** A message as it was read. `hash` is that of all its bytes. */
export type FoundMessage = {
  uid: number;
  token: string;
  hash: string;
  flags: Flags;
  modseq: number;
  /** Whether the bytes are those that were sent. */
  isWhole: boolean;
};

export type FoundFolder = {
  name: string;
  uidValidity: number;
  uidNext: number;
  highestModseq: number;
  messages: readonly FoundMessage[];
};

/** Knowledge of a mailbox that each change replaces. */
type Known = Pick<Told, 'model' | 'floors'>;

/** Everything that a client was told about a mailbox, and what was sent to it. */
export type Told = {
  model: Model;
  /** The change that was asked for and had no answer. */
  open: Change | undefined;
  /** Knowledge of the client before the last change that had an answer. */
  beforeLast: Known | undefined;
  /** The value of `beforeLast`, when the disk failed before that answer, which then proves nothing (see `doubtSince`). */
  inDoubt: Known | undefined;
  /** Tokens of all letters that were sent to the mailbox. */
  sent: Set<string>;
  /** Tokens of those that were answered with 250. */
  accepted: Set<string>;
  /** Tokens of those that were found in it, now or before. */
  delivered: Set<string>;
  /** By UIDVALIDITY: the least values that the next reading may show. */
  floors: Map<number, { uidNext: number; highestModseq: number }>;
  /** By UIDVALIDITY and UID: the bytes, and the last MODSEQ. */
  seen: Map<string, { hash: string; modseq: number }>;
};

/** Returns what a client knows of a mailbox that it has not read yet. */
export function nothingTold(): Told {
  return {
    model: new Map(),
    open: undefined,
    beforeLast: undefined,
    inDoubt: undefined,
    sent: new Set(),
    accepted: new Set(),
    delivered: new Set(),
    floors: new Map(),
    seen: new Map(),
  };
}

export type Reading = {
  faults: string[];
  /** Whether the change without an answer was made. Undefined when there was none, or when the mailbox is in neither state. */
  isDone: boolean | undefined;
};

/** Judges a reading of the whole mailbox. Pure: it changes nothing. */
export function judgeReading(told: Told, found: readonly FoundFolder[]): Reading {
  const reading = judgeAsTold(told, found);
  if (reading.faults.length === 0 || !told.inDoubt) return reading;
  const without = judgeAsTold({ ...told, ...told.inDoubt, open: undefined }, found);
  return without.faults.length === 0 ? without : reading;
}

function judgeAsTold(told: Told, found: readonly FoundFolder[]): Reading {
  const faults = found.flatMap((folder) => faultsOfNumbers(told, folder));
  const arrived = lettersIn(told, found);
  faults.push(...faultsOfLetters(arrived));
  const without = differences(told.model, found, arrived);
  if (without.length === 0 || !told.open)
    return { faults: [...faults, ...without], isDone: told.open ? false : undefined };
  const withIt = differences(changed(told.model, told.open), found, arrived);
  if (withIt.length === 0) return { faults, isDone: true };
  const { kind } = told.open;
  const said = [
    ...without.map((fault) => `${fault} (without the open ${kind})`),
    ...withIt.map((fault) => `${fault} (with the open ${kind})`),
  ];
  return { faults: [...faults, ...said], isDone: undefined };
}

/** Takes a reading for what the client knows from now on. */
export function adopt(told: Told, found: readonly FoundFolder[]): void {
  for (const token of lettersIn(told, found)) told.delivered.add(token);
  told.open = undefined;
  told.inDoubt = undefined;
  told.model = new Map(found.map(({ name, uidValidity, messages }) => [name, { uidValidity, messages }]));
  for (const { uidValidity, uidNext, highestModseq, messages } of found) {
    raise(told, uidValidity, { uidNext, highestModseq });
    for (const { uid, hash, modseq } of messages) told.seen.set(`${uidValidity}/${uid}`, { hash, modseq });
  }
}

/** Notes numbers that an answer told. */
export function raise(
  { floors }: Told,
  uidValidity: number,
  { uidNext = 0, highestModseq = 0 }: { uidNext?: number; highestModseq?: number },
): void {
  const floor = floors.get(uidValidity) ?? { uidNext: 0, highestModseq: 0 };
  floors.set(uidValidity, {
    uidNext: Math.max(floor.uidNext, uidNext),
    highestModseq: Math.max(floor.highestModseq, highestModseq),
  });
}

/** Takes note of an answer to the open change, with the UIDs of its new messages. */
export function settleOpen(told: Told, { floors, uids }: Pick<Told, 'floors'> & { uids: number[] }): void {
  if (!told.open) return;
  told.beforeLast = { model: told.model, floors };
  told.model = changed(told.model, told.open, uids);
  told.open = undefined;
}

/**
 * Puts in doubt what was answered since: all letters, and the last change. A disk that fails can make a flush succeed that did not:
 * ext4 answers a flush that waits for a journal commit with success when this commit has failed and is over (measured on Linux 6.18 with a
 * program that only writes and flushes: twice in 75 failures of writes). Every later flush of the same file fails. Returns the number of
 * letters and changes.
 */
export function doubtSince(told: Told, since: Pick<Told, 'accepted' | 'beforeLast'>): number {
  let count = 0;
  for (const token of told.accepted)
    if (!since.accepted.has(token)) {
      told.accepted.delete(token);
      count += 1;
    }
  if (told.beforeLast === since.beforeLast) return count;
  told.inDoubt = told.beforeLast;
  return count + 1;
}

/** Returns the tokens of letters that were answered with 250 and never came. */
export function lostLetters({ accepted, delivered }: Told): string[] {
  return [...accepted].filter((token) => !delivered.has(token));
}

function faultsOfNumbers(told: Told, folder: FoundFolder): string[] {
  const { uidValidity, uidNext, highestModseq, messages } = folder;
  const faults: string[] = [];
  const floor = told.floors.get(uidValidity);
  if (floor && uidNext < floor.uidNext) faults.push('UIDNEXT went back');
  if (floor && highestModseq < floor.highestModseq) faults.push('HIGHESTMODSEQ went back');
  for (const { uid, hash, modseq, isWhole } of messages) {
    const before = told.seen.get(`${uidValidity}/${uid}`);
    if (!isWhole) faults.push('the bytes of a message are not those that were sent');
    if (before && before.hash !== hash) faults.push('a UID names other bytes than before');
    if (before && modseq < before.modseq) faults.push('the MODSEQ of a message went back');
    if (uid >= uidNext) faults.push('a message has a UID from UIDNEXT on');
    if (modseq > highestModseq) faults.push('a message has a MODSEQ above HIGHESTMODSEQ');
  }
  return faults;
}

/** Returns the tokens of letters in INBOX that its client does not know, and that were not delivered before. */
function lettersIn({ model, sent, delivered }: Told, found: readonly FoundFolder[]): string[] {
  const known = new Set(model.get('INBOX')?.messages.map(({ token }) => token));
  const inbox = found.find(({ name }) => name === 'INBOX');
  return (inbox?.messages ?? [])
    .map(({ token }) => token)
    .filter((token) => sent.has(token) && !delivered.has(token) && !known.has(token));
}

function faultsOfLetters(arrived: readonly string[]): string[] {
  return new Set(arrived).size === arrived.length ? [] : ['a letter was delivered twice'];
}

/** Returns how the mailbox differs from what is expected, apart from new letters. */
function differences(model: Model, found: readonly FoundFolder[], arrived: readonly string[]): string[] {
  const names = new Set(found.map(({ name }) => name));
  const missing = [...model.keys()].filter((name) => !names.has(name));
  return [
    ...missing.map((name) => `${name} is missing`),
    ...found.flatMap((folder) => {
      const expected = model.get(folder.name);
      if (!expected) return [`${folder.name} is there, and nobody made it`];
      return differencesOfFolder(expected, folder, folder.name === 'INBOX' ? arrived : []);
    }),
  ];
}

function differencesOfFolder(
  { uidValidity, messages: expected }: KnownFolder,
  { name, uidValidity: foundValidity, messages }: FoundFolder,
  arrived: readonly string[],
): string[] {
  const faults: string[] = [];
  if (uidValidity !== undefined && uidValidity !== foundValidity)
    faults.push(`${name} has another UIDVALIDITY`);
  const left = new Map(messages.map((message) => [message.uid, message]));
  for (const { uid, token, flags } of expected.toSorted(knownFirst)) {
    const message = uid === undefined ? [...left.values()].find((one) => one.token === token) : left.get(uid);
    if (message) left.delete(message.uid);
    if (message?.token !== token) faults.push(`${name}: a message is lost`);
    else if (message.flags !== flags)
      faults.push(`${name}: a message has "${message.flags}", not "${flags}"`);
  }
  const strangers = [...left.values()].filter(({ token }) => !arrived.includes(token));
  return [...faults, ...strangers.map(() => `${name}: a message is there that should not be`)];
}

/** Messages with a UID come first, so that none of them is taken for one without. */
function knownFirst(one: { uid: number | undefined }, other: { uid: number | undefined }): number {
  return Number(one.uid === undefined) - Number(other.uid === undefined);
}
