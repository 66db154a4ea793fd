/**
 * Imports the messages of one folder that the mailbox does not know. What it knows is asked of the mailbox itself, so an import goes on
 * after a crash where it ended, and a later one adds what is new.
 */
import { hash } from 'node:crypto';
import type { AddedMessage } from '../accounts/contents.ts';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import type { RunRequest, TargetCalls } from './run.ts';
import type { RunProgress } from './run-progress.ts';
import type { SourceConnection } from './source/connection.ts';
import type { SourceFolder } from './source/folders.ts';
import {
  describeMessages,
  fetchContents,
  fetchPieces,
  listUids,
  MAX_SMALL_BYTES,
  openSourceFolder,
  type SourceMessage,
} from './source/messages.ts';
import { CommandRefused, SourceError } from './source/source-error.ts';
import type { Spool } from './spool.ts';
import { MAX_RECORD_BYTES } from './transfer/records.ts';

/** The user of a server whose mail is imported. */
type SourceIdentity = { host: string; user: string };

type SourceIds = {
  /** Returns the key of a folder, whatever its UIDVALIDITY is. */
  folderKey(path: string): string;
  /** Returns the id of a message by its UID in a folder. */
  byUid(folder: { path: string; uidValidity: string }, uid: number): string;
  /** Returns the id of a message that has the same id in all folders. */
  byLabelledId(labelledId: string): string;
  /** Returns the id of a message by its content, for a folder whose UIDs have changed. */
  byContent(path: string, contentSha256: string): string;
};

/** Values that the parts of a run share. */
export type Run = {
  clock: Clock;
  request: Pick<RunRequest, 'mailboxId'>;
  /** The session, which `reconnect` replaces. */
  readonly connection: SourceConnection;
  /**
   * Begins another session. Throws the cause when the run is over, or has had its sessions.
   * @throws SourceError
   */
  reconnect(cause: SourceError): Promise<void>;
  target: TargetCalls;
  progress: RunProgress;
  spool: Spool;
  ids: SourceIds;
  /** True when the run has to end after what it is doing. */
  isOver(): boolean;
};

/** Maximum number of messages that are asked for at once. Their UIDs fit into a command line of 8,000 octets. */
const SLICE_MESSAGES = 500;
/** Maximum number of messages that are stored in one commit, and their size. Two such batches are in memory. */
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 2 * 1024 * 1024;

/**
 * Maximum time in which a large message is read, in milliseconds: a megabit in a second is enough for the largest.
 */
export const MAX_MESSAGE_MS = 600_000;

/** Error of a message that the server lists. Another client may have removed it meanwhile. */
const NOT_GIVEN = 'The server does not give the message, which may have been removed meanwhile';

/** The folder that is open. */
type OpenFolder = SourceFolder & { uidValidity: string; mayRepeat: boolean };

/** A message with its id. */
type Identified = SourceMessage & { deliveryId: string };

/**
 * Imports a folder. Returns false when the run was over before its end.
 * @throws CommandRefused when the server does not show the folder; SourceError; StaleImportError; the errors of `MailboxContents`
 */
export async function importFolder(run: Run, folder: SourceFolder): Promise<boolean> {
  const { connection, target, progress, ids } = run;
  const { mailboxId } = run.request;
  const uidValidity = await openSourceFolder(connection, folder.path);
  const folderKey = ids.folderKey(folder.path);
  const { mayRepeat } = await target.openFolder({ mailboxId, folderKey, uidValidity });
  const open: OpenFolder = { ...folder, uidValidity, mayRepeat };
  const found = await listUids(connection);
  const account = progress.openAccount(found.length);
  try {
    return await importUids(run, open, progress.withoutFailed(folder.path, found));
  } catch (error) {
    if (concernsFolder(error)) account.failRest();
    throw error;
  }
}

/** Returns true when the server does not show a folder, or the mailbox cannot have one more. */
export function concernsFolder(error: unknown): error is Error {
  return error instanceof CommandRefused || (error instanceof AppError && error.code === 'validation_error');
}

/** Imports messages of the open folder. Returns false when the run was over before its end. */
async function importUids(run: Run, open: OpenFolder, uids: readonly number[]): Promise<boolean> {
  const { progress } = run;
  for (let start = 0; start < uids.length; start += SLICE_MESSAGES) {
    if (run.isOver()) return false;
    const missing = await findMissingMessages(run, open, uids.slice(start, start + SLICE_MESSAGES));
    if (!(await importMessages(run, open, missing))) return false;
    await progress.reportSometimes();
  }
  // A run that ends while messages are asked for alone leaves some of them out.
  return !run.isOver();
}

/** Returns the messages that the mailbox does not know. Those with labels are known by the id that the server reports. */
async function findMissingMessages(
  run: Run,
  folder: OpenFolder,
  uids: readonly number[],
): Promise<Identified[]> {
  const { ids } = run;
  const { hasLabels } = run.connection;
  const byUid = (uid: number) => ids.byUid(folder, uid);
  const asked = hasLabels ? uids : await onlyMissing(run, uids, byUid);
  const described: SourceMessage[] = [];
  const answers = askForEach(run, folder, {
    items: asked.map((uid) => ({ uid })),
    async ask(wanted) {
      const found = await describeMessages(
        run.connection,
        wanted.map(({ uid }) => uid),
      );
      return new Map(found.map((message) => [message.uid, message]));
    },
  });
  for await (const found of answers) described.push(...found);
  const idOf = ({ uid, labelledId }: SourceMessage) =>
    labelledId === undefined ? byUid(uid) : ids.byLabelledId(labelledId);
  const missing = hasLabels ? await onlyMissing(run, described, idOf) : described;
  return missing.map((message) => ({ ...message, deliveryId: idOf(message) }));
}

/** Leaves out the items that the mailbox knows by their ids, and counts them. */
async function onlyMissing<Item>(
  { target, progress, request: { mailboxId } }: Run,
  items: readonly Item[],
  idOf: (item: Item) => string,
): Promise<Item[]> {
  if (items.length === 0) return [];
  const deliveryIds = items.map(idOf);
  const missing = new Set(await target.findMissing({ mailboxId, deliveryIds }));
  const found = items.filter((_, index) => missing.has(deliveryIds[index] as string));
  progress.countKnown(items.length - found.length);
  return found;
}

/** Imports messages in batches. While one is stored, the next one is fetched, and no more. Returns false when the run was over before its end. */
async function importMessages(
  run: Run,
  folder: OpenFolder,
  messages: readonly Identified[],
): Promise<boolean> {
  let storing: Promise<void> = Promise.resolve();
  try {
    for (const batch of batchesOf(messages)) {
      if (run.isOver()) return false;
      // The spool holds one large message at a time.
      if (isLarge(batch[0])) await storing;
      for await (const fetched of fetchBatch(run, folder, batch)) {
        await storing;
        storing = store(run, folder, fetched);
        // The error is seen when the result is awaited, which the next fetch delays.
        storing.catch(() => {});
      }
      if (isLarge(batch[0])) await storing;
    }
    return true;
  } finally {
    await storing;
  }
}

/** Cuts messages into batches. A large message is a batch of its own. */
function* batchesOf(messages: readonly Identified[]): Generator<Identified[]> {
  let batch: Identified[] = [];
  let bytes = 0;
  for (const message of messages) {
    const isFull = batch.length === BATCH_MESSAGES || bytes + message.sizeBytes > BATCH_BYTES;
    if (batch.length > 0 && (isLarge(message) || isFull)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (isLarge(message)) {
      yield [message];
      continue;
    }
    batch.push(message);
    bytes += message.sizeBytes;
  }
  if (batch.length > 0) yield batch;
}

function isLarge(message: Identified | undefined): boolean {
  return message !== undefined && message.sizeBytes > MAX_SMALL_BYTES;
}

/** A message with its content. */
type Fetched = {
  message: Identified;
  content: Buffer | { path: string; sha256: string };
  sizeBytes: number;
  sha256: string;
};

/** Yields the messages of a batch as they are fetched. Those that the server does not give are recorded as errors. */
function fetchBatch(run: Run, folder: OpenFolder, batch: readonly Identified[]): AsyncGenerator<Fetched[]> {
  const [first] = batch;
  if (first && isLarge(first)) return fetchLarge(run, folder, first);
  return askForEach(run, folder, {
    items: batch,
    async ask(wanted) {
      const contents = await fetchContents(run.connection, wanted);
      const fetched = wanted.flatMap((message): [number, Fetched][] => {
        const content = contents.get(message.uid);
        if (!content) return [];
        const sha256 = hash('sha256', content, 'hex');
        return [[message.uid, { message, content, sizeBytes: content.length, sha256 }]];
      });
      return new Map(fetched);
    },
  });
}

type Asked<Item, Found> = {
  items: readonly Item[];
  /** Returns what the server gives, by UID; undefined for a message whose error was recorded already. */
  ask(items: readonly Item[]): Promise<ReadonlyMap<number, Found | undefined>>;
  /** True when the messages were asked for before. */
  isAgain?: boolean;
};

/**
 * Asks for messages, and for each alone when that fails: one damaged message makes a server refuse all that were asked for with it, or
 * end the session, as Dovecot does. Yields each answer before it asks for more, so that a server which refuses a batch cannot fill the
 * memory with what it sends for each message alone. Messages that an answer leaves out are asked for again as long as the answers have any
 * of them. A message that cannot be had is recorded as an error. Yields fewer when the run is over.
 */
async function* askForEach<Item extends { uid: number }, Found>(
  run: Run,
  folder: OpenFolder,
  { items, ask, isAgain = false }: Asked<Item, Found>,
): AsyncGenerator<Found[]> {
  let answer: ReadonlyMap<number, Found | undefined>;
  try {
    answer = await ask(items);
  } catch (error) {
    const isLost = await resume(run, folder, error);
    const [first] = items;
    if (items.length === 1 && first && (isAgain || !isLost)) {
      const { message } = error as Error;
      run.progress.fail(
        folder.path,
        first.uid,
        isLost ? `The server does not give the message: ${message}` : message,
      );
      return;
    }
    for (const item of items) {
      // A server may take very long for each of them.
      if (run.isOver()) return;
      yield* askForEach(run, folder, { items: [item], ask, isAgain: true });
    }
    return;
  }
  yield items.flatMap(({ uid }) => answer.get(uid) ?? []);
  const left = items.filter(({ uid }) => !answer.has(uid));
  if (left.length === 0) return;
  if (left.length < items.length && !run.isOver())
    return yield* askForEach(run, folder, { items: left, ask, isAgain });
  if (run.isOver()) return;
  for (const { uid } of left) run.progress.fail(folder.path, uid, NOT_GIVEN);
}

/**
 * Goes on after an error of the server: in the same session when it has refused a command, and otherwise in another one. Returns true
 * when the session was lost.
 * @throws the error when the import cannot go on
 */
async function resume(run: Run, folder: OpenFolder, error: unknown): Promise<boolean> {
  if (error instanceof CommandRefused) return false;
  if (!(error instanceof SourceError) || error.fault !== 'source_unavailable') throw error;
  await run.reconnect(error);
  if ((await openSourceFolder(run.connection, folder.path)) !== folder.uidValidity) throw error;
  return true;
}

async function* fetchLarge(run: Run, folder: OpenFolder, message: Identified): AsyncGenerator<Fetched[]> {
  const { target, progress, spool } = run;
  const fail = (reason: string): Map<number, undefined> => {
    progress.fail(folder.path, message.uid, reason);
    return new Map([[message.uid, undefined]]);
  };
  const tooLarge = `The message has more than ${MAX_RECORD_BYTES} bytes`;
  if (message.sizeBytes > MAX_RECORD_BYTES) {
    fail(tooLarge);
    return;
  }
  yield* askForEach(run, folder, {
    items: [message],
    async ask() {
      await target.requireReserve();
      const spooled = await spool.write(inTime(run, fetchPieces(run.connection, message)));
      if (!spooled) return fail(tooLarge);
      const { path, sha256, sizeBytes } = spooled;
      if (sizeBytes === 0) return fail(NOT_GIVEN);
      return new Map([[message.uid, { message, content: { path, sha256 }, sizeBytes, sha256 }]]);
    },
  });
}

/**
 * Yields the pieces of a message.
 * @throws CommandRefused when they take too long
 */
async function* inTime({ clock }: Run, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const endsAt = clock.elapsed() + MAX_MESSAGE_MS;
  for await (const piece of pieces) {
    if (clock.elapsed() >= endsAt) throw new CommandRefused('The server is too slow');
    yield piece;
  }
}

async function store(run: Run, folder: OpenFolder, fetched: readonly Fetched[]): Promise<void> {
  const { target, progress, request, connection, ids, clock, spool } = run;
  const contentId = ({ sha256 }: Fetched) => ids.byContent(folder.path, sha256);
  const added =
    folder.mayRepeat && !connection.hasLabels ? await onlyMissing(run, fetched, contentId) : fetched;
  if (added.length < fetched.length) await rememberOthers(run, fetched, added);
  if (added.length > 0) {
    const packed = pack(added.flatMap(({ content }) => (Buffer.isBuffer(content) ? [content] : [])));
    let next = 0;
    const messages = added.map((one): AddedMessage => {
      const { deliveryId, flags, receivedAt = clock.now() } = one.message;
      const content = Buffer.isBuffer(one.content) ? (packed[next++] as Uint8Array) : one.content;
      const otherIds = connection.hasLabels ? [] : [contentId(one)];
      return { deliveryId, otherIds, flags, receivedAt, content };
    });
    const { mailboxId } = request;
    const [first] = packed;
    const input = { mailboxId, folder: folder.target, messages };
    const result = await target.add(input, first ? [first.buffer] : []);
    if (result.withoutKeywords > 0)
      progress.fail(folder.path, 0, 'The mailbox has too many keywords, so messages are without theirs');
    const sizeBytes = added.reduce((sum, one) => sum + one.sizeBytes, 0);
    progress.countImported(result.added, Math.round((sizeBytes * result.added) / added.length));
    progress.countKnown(added.length - result.added);
  }
  if (fetched.some(({ content }) => !Buffer.isBuffer(content))) await spool.clear();
  await progress.reportSometimes();
}

/** Stores the ids of the messages that are known by their contents, so that no later run fetches them again. */
async function rememberOthers(
  { target, request: { mailboxId } }: Run,
  fetched: readonly Fetched[],
  added: readonly Fetched[],
): Promise<void> {
  const isAdded = new Set(added);
  const others = fetched.filter((one) => !isAdded.has(one));
  await target.remember({ mailboxId, deliveryIds: others.map(({ message }) => message.deliveryId) });
}

/** Copies contents into one memory, which moves to another thread without being copied again. */
function pack(contents: readonly Buffer[]): Uint8Array<ArrayBuffer>[] {
  const memory = new ArrayBuffer(contents.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  return contents.map((content) => {
    const copy = new Uint8Array(memory, offset, content.length);
    copy.set(content);
    offset += content.length;
    return copy;
  });
}

/** Returns the ids of the messages of a user. A user of another server, and another user, has other ids. */
export function createSourceIds({ host, user }: SourceIdentity): SourceIds {
  const idOf = (...parts: readonly (string | number)[]) =>
    `imap/${hash('sha256', JSON.stringify([host, user, ...parts]), 'hex')}`;
  return {
    folderKey: (path) => idOf('folder', path),
    byUid: ({ path, uidValidity }, uid) => idOf('uid', path, uidValidity, uid),
    byLabelledId: (labelledId) => idOf('label', labelledId),
    byContent: (path, contentSha256) => idOf('content', path, contentSha256),
  };
}
