/** The world of a daemon with mailboxes: their clients, and a server that sends letters to them. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_FOLDERS } from '../../../src/accounts/first-folders.ts';
import { createClient } from '../../mail/smtp/server/fixture.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { freePort } from '../../support/loopback.ts';
import type { Result } from '../part.ts';
import { withRetries } from '../retries.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { beginWorld, HOSTNAME, type World } from '../world.ts';
import { adopt, judgeReading, lostLetters, nothingTold, type Told } from './audit.ts';
import { Changes } from './changes.ts';
import { ConnectionEnded, MailboxClient, Refused } from './client.ts';
import { countPending } from './due-times.ts';
import { messageOf, tokenOf } from './letter.ts';
import type { ChangeKind, Model } from './model.ts';

/** A mailbox, with what its client was told. */
export type Mailbox = { address: string; told: Told; changes: Changes };

export type MailboxWorld = AsyncDisposable & {
  world: World;
  ports: { smtp: number; imap: number; pop3: number };
  mailboxes: readonly Mailbox[];
  figures: MailboxFigures;
  faults: string[];
};

export type MailboxFigures = {
  /** Changes that were answered with OK, by kind. */
  changes: Record<string, number>;
  /** Changes without an answer that were found made, and not made. */
  openDone: number;
  openUndone: number;
  /** Number of readings of a whole mailbox, and of messages in them. */
  readings: number;
  messages: number;
  /** Letters that were answered with 250, and those that were found. */
  accepted: number;
  delivered: number;
  /** Changes and letters that were answered while the disk failed, so that they may be lost. */
  inDoubt: number;
};

export type MailboxVerdict = { figures: MailboxFigures; faults: string[] };

export const PASSWORD = 'a password of the tests';
const MAILBOXES = 3;
/** A new mailbox has these folders, which are empty. */
const FIRST_MODEL: Model = new Map(
  FIRST_FOLDERS.map(({ name }) => [name, { uidValidity: undefined, messages: [] }]),
);
const PAUSE_MS = 50;
const LETTER_PAUSE_MS = 20;
const ARRIVAL_TIMEOUT_MS = 90_000;
const SMTP_TIMEOUT_MS = 30_000;
/** Size of messages with which the write-ahead log of a mailbox is soon long enough to be copied back. */
const CHECKPOINT_SIZE = 'm';

/** `figures` are those of the worlds before, which are added to. */
type Options = { random: SeededRandom; name: string; dataDir?: string; figures?: MailboxFigures };

/** Returns the figures of a run that has not begun. */
export function noFigures(): MailboxFigures {
  return {
    changes: {},
    ...{ openDone: 0, openUndone: 0, readings: 0, messages: 0, accepted: 0, delivered: 0, inDoubt: 0 },
  };
}

/** Creates the world. Its first life makes the mailboxes and ends in peace. */
export async function createMailboxWorld(options: Options): Promise<MailboxWorld> {
  const { random, name, dataDir, figures = noFigures() } = options;
  const ports = { smtp: await freePort(), imap: await freePort(), pop3: await freePort() };
  const env = {
    POSTRIDER_SMTP_PORT: String(ports.smtp),
    POSTRIDER_SUBMISSION_ENABLED: 'false',
    POSTRIDER_IMAP_STARTTLS: 'true',
    POSTRIDER_IMAP_STARTTLS_PORT: String(ports.imap),
    POSTRIDER_POP3_STARTTLS: 'true',
    POSTRIDER_POP3_STARTTLS_PORT: String(ports.pop3),
  };
  const { world, daemon } = await beginWorld({
    random,
    name,
    env,
    isSubscribed: false,
    ...(dataDir !== undefined && { dataDir }),
  });
  const mailboxes: Mailbox[] = [];
  for (let number = 1; number <= MAILBOXES; number++) {
    const address = `person-${number}@sandbox.${HOSTNAME}`;
    const body = { address, password: PASSWORD };
    const made = await withRetries(() => daemon.request('POST', '/v1/mailboxes', world.key, body));
    if (made.status !== 201) throw new Error(`POST /v1/mailboxes: ${JSON.stringify(made.body)}`);
    const told = { ...nothingTold(), model: FIRST_MODEL };
    mailboxes.push({ address, told, changes: new Changes(random, String(number)) });
  }
  await daemon.stop();
  await world.endLife(Date.now());
  return {
    world,
    ports,
    mailboxes,
    figures,
    faults: [],
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Reads all mailboxes and judges them. One that cannot be read, because the daemon has ended, is judged after its next start. */
export async function reckon(place: MailboxWorld): Promise<void> {
  await Promise.all(
    place.mailboxes.map((mailbox) =>
      withClient(place, mailbox, async (client) => {
        const found = await client.read();
        const { faults, isDone } = judgeReading(mailbox.told, found);
        const { figures } = place;
        place.faults.push(...faults);
        figures.readings += 1;
        figures.messages += found.reduce((sum, { messages }) => sum + messages.length, 0);
        if (isDone === true) figures.openDone += 1;
        if (isDone === false) figures.openUndone += 1;
        adopt(mailbox.told, found);
      }),
    ),
  );
}

export type Work = {
  signal: AbortSignal;
  /** Number of changes that chance decides, before those of the wanted kind. */
  anyFirst: number;
  /** Kind of the further changes; by default chance decides. `checkpoint` appends messages that fill the log. */
  wanted?: ChangeKind | 'checkpoint' | undefined;
  mostChanges: number;
};

/** Changes all mailboxes until everything is done or the daemon is dead. */
export async function work(place: MailboxWorld, run: Work): Promise<void> {
  await Promise.all(place.mailboxes.map((mailbox) => change(place, mailbox, run)));
}

async function change(
  place: MailboxWorld,
  mailbox: Mailbox,
  { signal, wanted: further, anyFirst, mostChanges }: Work,
): Promise<void> {
  const { told, changes } = mailbox;
  // The next reading shows whether a change without an answer was made.
  if (told.open) return;
  await withClient(place, mailbox, async (client) => {
    for (let count = 0; count < mostChanges && !signal.aborted; count++) {
      const wanted = count < anyFirst ? undefined : further;
      const next =
        wanted === 'checkpoint'
          ? changes.append('Archive', CHECKPOINT_SIZE)
          : changes.next(told.model, wanted);
      await client.change(told, next);
      place.figures.changes[next.kind] = (place.figures.changes[next.kind] ?? 0) + 1;
    }
  });
}

/** Runs a session of a mailbox. One that ends because the daemon ended is not a fault. */
export async function withClient(
  { ports, faults }: MailboxWorld,
  { address }: Mailbox,
  use: (client: MailboxClient) => Promise<void>,
): Promise<void> {
  let client: MailboxClient | undefined;
  try {
    client = await MailboxClient.open(ports, { address, password: PASSWORD });
    await use(client);
  } catch (error) {
    if (error instanceof Refused) faults.push(`answered under load: ${error.message}`);
    else if (!(error instanceof ConnectionEnded)) throw error;
  } finally {
    client?.close();
  }
}

let lastLetter = 0;

/** Sends letters to all mailboxes in turn, until this many are sent or the daemon is dead. A busy daemon may put them off. */
export async function send(
  place: MailboxWorld,
  { signal, mostLetters }: { signal: AbortSignal; mostLetters: number },
): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port: place.ports.smtp, noDelay: true });
  socket.setTimeout(SMTP_TIMEOUT_MS, () => socket.destroy());
  const client = createClient(socket);
  let reply = await client.reply();
  if (reply.startsWith('220')) reply = await client.ask('EHLO mx.author.test\r\n');
  for (let count = 0; count < mostLetters && !signal.aborted; count++) {
    const { address, told } = place.mailboxes[count % place.mailboxes.length] as Mailbox;
    const token = tokenOf('letter', ++lastLetter, count % 4 === 3 ? 'l' : 's');
    told.sent.add(token);
    for (const step of ['MAIL FROM:<ann@author.test>', `RCPT TO:<${address}>`, 'DATA']) {
      reply = await client.ask(`${step}\r\n`);
      if (!/^[23]/.test(reply)) break;
    }
    if (reply.startsWith('354'))
      reply = await client.ask(Buffer.concat([messageOf(token), Buffer.from('.\r\n')]));
    if (reply.startsWith('250')) told.accepted.add(token);
    else if (/^(closed|421)/.test(reply)) break;
    else if (!reply.startsWith('4')) place.faults.push(`a letter was answered under load: ${reply.trim()}`);
    if (!reply.startsWith('250')) await client.ask('RSET\r\n');
    await sleep(LETTER_PAUSE_MS);
  }
  socket.destroy();
}

/** Waits for the letters that were answered with 250, checks the mailboxes, ends the daemon, and judges. */
export async function finishMailboxes(place: MailboxWorld, daemon: DaemonProcess): Promise<MailboxVerdict> {
  const { mailboxes, figures, faults, world } = place;
  const until = performance.now() + ARRIVAL_TIMEOUT_MS;
  // A delivery that is made again can come after all letters are there.
  while (countPending(world.dataDir) > 0 && performance.now() < until) await sleep(PAUSE_MS);
  await reckon(place);
  for (const { address, told } of mailboxes) {
    faults.push(...lostLetters(told).map(() => 'a letter was answered with 250, and lost'));
    figures.accepted += told.accepted.size;
    figures.delivered += told.delivered.size;
    const { findings } = (await daemon.cli(['mailbox', 'check', address])) as { findings: string[] };
    faults.push(...findings.map((finding) => `mailbox check: ${finding}`));
  }
  await daemon.stop();
  await world.endLife(Date.now());
  return { figures, faults };
}

/** Returns a verdict in figures that a person reads. `done` says what was done to the daemon. */
export function describeMailboxes({ figures, faults }: MailboxVerdict, done: string): Result {
  const changes = Object.entries(figures.changes).map(([kind, count]) => `${kind} ${count}`);
  return {
    lines: [
      done,
      `changes answered with OK: ${changes.join(', ')}; without an answer: made ${figures.openDone}, not made ${figures.openUndone}`,
      `letters answered with 250: ${figures.accepted}; delivered, with those without an answer: ${figures.delivered}`,
      ...(figures.inDoubt > 0 ? [`answered while the disk failed, and in doubt: ${figures.inDoubt}`] : []),
      `readings of a mailbox: ${figures.readings}, with ${figures.messages} messages in all`,
    ],
    faults,
  };
}
