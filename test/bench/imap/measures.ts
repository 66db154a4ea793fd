/** The jobs of the rows of `imap`. Each returns its figure: milliseconds, or how many in a second. */
import { percentile } from '../percentile.ts';
import type { Measure } from '../row.ts';
import { ImapConnection } from './client.ts';
import { SUBJECT_WORD, sampleMessages, TEXT_WORD } from './messages.ts';
import { FOLDER, type ImapSystem } from './system.ts';

/** Number of times that a short command is measured. The middle one counts. */
const REPEATS = 5;
const APPENDED = 200;
const APPENDED_BY_EACH = 100;
const LOGINS = 160;
const LOGINS_AT_A_TIME = 8;
const PUSHES = 20;
const MS_PER_SECOND = 1_000;

export type ImapMeasure = (system: ImapSystem) => Promise<Measure>;

/** Returns the time of a command in the filled mailbox, which is selected; the middle one of several. */
export function timeOf(command: string, repeats = REPEATS): ImapMeasure {
  return async (system) => {
    const connection = await system.login();
    await connection.run(`SELECT ${FOLDER}`);
    return await repeat(repeats, async () => {
      // A command that selects leaves the mailbox selected.
      return (await connection.run(command)).ms;
    }).finally(() => connection.close());
  };
}

async function repeat(times: number, run: () => Promise<number>): Promise<Measure> {
  const all: number[] = [];
  for (let count = 0; count < times; count++) all.push(await run());
  return { figure: percentile(all, 0.5) };
}

export const select = timeOf(`SELECT ${FOLDER}`);
export const fetchFlags = timeOf('FETCH 1:* FLAGS');
export const fetchAll = timeOf('FETCH 1:* BODY.PEEK[]', 1);
export const fetchStructure = timeOf('FETCH 1:* (ENVELOPE BODYSTRUCTURE)', 3);
export const searchSubject = timeOf(`SEARCH SUBJECT ${SUBJECT_WORD}`);
export const searchText = timeOf(`SEARCH TEXT ${TEXT_WORD}`, 3);

/** Large mailboxes have an index, which is made in the background. */
export const searchTextIndexed: ImapMeasure = async (system) => {
  await system.settle();
  return await searchText(system);
};

/** The first client asks for the structure of messages that no client has asked about before. */
export const fetchStructureFirst: ImapMeasure = async (system) => {
  await system.forgetStructure(FOLDER);
  return await timeOf('FETCH 1:* (ENVELOPE BODYSTRUCTURE)', 1)(system);
};

/** Each STORE changes every message. */
export const storeAll: ImapMeasure = async (system) => {
  const connection = await system.login();
  await connection.run(`SELECT ${FOLDER}`);
  let isAdded = false;
  return await repeat(4, async () => {
    isAdded = !isAdded;
    return (await connection.run(`STORE 1:* ${isAdded ? '+' : '-'}FLAGS.SILENT (\\Flagged)`)).ms;
  }).finally(() => connection.close());
};

/** One client adds messages, one in each command. */
export const appendOne: ImapMeasure = (system) => append(system, 1, APPENDED);
/** Four users add messages at the same time. */
export const appendFour: ImapMeasure = (system) => append(system, 4, APPENDED_BY_EACH);

async function append(system: ImapSystem, users: number, count: number): Promise<Measure> {
  const connections = await Promise.all(
    system.users.slice(0, users).map((user) => ImapConnection.login(system.port, user)),
  );
  const messages = sampleMessages(count);
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (const message of messages) await connection.append('INBOX', [message]);
    }),
  );
  const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
  for (const connection of connections) connection.close();
  return { figure: (users * count) / seconds };
}

/** Clients connect, log in and leave, with the handshake of TLS. */
export const logins: ImapMeasure = async (system) => {
  let left = LOGINS;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: LOGINS_AT_A_TIME }, async () => {
      while (left-- > 0) (await system.login()).close();
    }),
  );
  return { figure: (LOGINS * MS_PER_SECOND) / (performance.now() - startedAt) };
};

/** Time from the completion of APPEND to the notification of another client in IDLE, which most of 20 get. */
export const push: ImapMeasure = async (system) => {
  const [writer, reader] = [await system.login(), await system.login()];
  await reader.run('SELECT INBOX');
  const times: number[] = [];
  for (const message of sampleMessages(PUSHES)) {
    await reader.idle();
    const notified = reader.untilText(' EXISTS');
    await writer.append('INBOX', [message]);
    const appendedAt = performance.now();
    times.push(Math.max(0, (await notified) - appendedAt));
    await reader.done();
  }
  for (const connection of [writer, reader]) connection.close();
  return { figure: percentile(times, 0.95), p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
};
