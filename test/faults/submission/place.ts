/** The world of a daemon to which people and applications hand in mail, by both ports. */
import type { Database } from 'better-sqlite3';
import type { Id } from '../../../src/system/ids.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { freePort } from '../../support/loopback.ts';
import { finish } from '../finish.ts';
import { readTables } from '../inbound/audit.ts';
import { readMailbox } from '../inbound/mailbox.ts';
import { allowMailboxes, createAppPassword, createMailbox } from '../new-mailbox.ts';
import { withDatabase } from '../open-database.ts';
import { untilQuiet } from '../quiet.ts';
import { wrongIn } from '../report.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type ClientsRun, SmtpClients, type SmtpServer } from '../smtp-clients.ts';
import { beginWorld, HOSTNAME, SENDER_DOMAIN, type World } from '../world.ts';
import { judgeSubmission, type SubmissionVerdict } from './audit.ts';
import { type Mail, type MailKind, READER, REFUSED_WRITER, transmissionOf, WRITER } from './mail.ts';

/** Somebody who hands in mail of some kinds, with several clients. */
type User = {
  kinds: readonly MailKind[];
  login: NonNullable<SmtpServer['login']>;
  clients: SmtpClients<Mail>;
  mail: Mail[];
};

export type SubmissionWorld = AsyncDisposable & {
  world: World;
  ports: { tls: number; starttls: number };
  users: readonly User[];
  mailboxIds: { reader: Id<'mbx'>; refusedWriter: Id<'mbx'> };
  random: SeededRandom;
};

type Options = { random: SeededRandom; name: string; dataDir?: string; env?: Record<string, string> };

/** Above the number of recipients of any run. */
const MAX_RECIPIENTS = '1000000';
const FILE_SHARE = 0.15;
const CLIENTS = 2;
const SETTLE_TIMEOUT_MS = 3 * 60_000;

/** Creates the world. Its first life makes the mailboxes and their app passwords, and ends in peace. */
export async function createSubmissionWorld({
  random,
  name,
  dataDir,
  env,
}: Options): Promise<SubmissionWorld> {
  const ports = { tls: await freePort(), starttls: await freePort() };
  const { world, daemon } = await beginWorld({
    random,
    name,
    env: {
      POSTRIDER_SUBMISSION_ENABLED: 'true',
      POSTRIDER_SUBMISSION_ADDRESS: '127.0.0.1',
      POSTRIDER_SUBMISSION_PORT: String(ports.starttls),
      POSTRIDER_SUBMISSION_TLS_PORT: String(ports.tls),
      POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY: MAX_RECIPIENTS,
      POSTRIDER_SUBMISSION_NEW_RECIPIENTS_PER_DAY: MAX_RECIPIENTS,
      ...env,
    },
    zone: `${SENDER_DOMAIN} MX 10 ${HOSTNAME}`,
    isSubscribed: false,
    isApart: () => true,
    refuses: (mailFrom) => mailFrom === REFUSED_WRITER,
    ...(dataDir !== undefined && { dataDir }),
  });
  await allowMailboxes(world, daemon);
  const create = async (address: string) => {
    const id = await createMailbox(world, daemon, address);
    return { id, login: { username: address, password: await createAppPassword(world, daemon, id) } };
  };
  const [reader, writer, refusedWriter] = [
    await create(READER),
    await create(WRITER),
    await create(REFUSED_WRITER),
  ];
  await daemon.stop();
  await world.endLife(Date.now());
  const application = { username: 'application', password: world.key };
  const users = [
    newUser(['away', 'here'], writer.login),
    newUser(['refused'], refusedWriter.login),
    newUser(['application'], application),
  ];
  const mailboxIds = { reader: reader.id, refusedWriter: refusedWriter.id };
  return {
    world,
    ports,
    users,
    mailboxIds,
    random,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function newUser(kinds: User['kinds'], login: User['login']): User {
  return { kinds, login, clients: new SmtpClients<Mail>(), mail: [] };
}

type HandIn = Pick<ClientsRun<Mail>, 'pauseMs' | 'signal' | 'persistent'> & {
  /** Maximum number of new messages of each user; 0 only repeats. */
  most: number;
  /** The kind of mail that is handed in; by default all kinds are. */
  only?: MailKind | undefined;
};

/** Lets all users hand in mail until it is all taken or the daemon is dead. */
export async function handIn(
  { users, ports, random }: SubmissionWorld,
  { most, only, ...run }: HandIn,
): Promise<void> {
  const active = users.filter(({ kinds }) => only === undefined || kinds.includes(only));
  await Promise.all(
    active.map(({ kinds, login, clients, mail }) => {
      const last = mail.length + most;
      return clients.run({
        ...run,
        clients: CLIENTS,
        serverFor: (client) =>
          client % 2 === 0
            ? { port: ports.tls, tls: 'immediate', login }
            : { port: ports.starttls, tls: 'starttls', login },
        next() {
          if (mail.length >= last) return undefined;
          const one = newMail(kinds[mail.length % kinds.length] as MailKind, mail.length + 1, random);
          mail.push(one);
          return one;
        },
        transmissionOf,
      });
    }),
  );
}

function newMail(kind: MailKind, number: number, random: SeededRandom): Mail {
  const hasFile = random.share() < FILE_SHARE;
  return { kind, number, hasFile, transmissions: 0, acknowledged: new Map(), refused: new Set() };
}

/** Returns the number of messages that were answered with 250. */
export function countAcknowledged({ users }: SubmissionWorld): number {
  return users.reduce((sum, { mail }) => sum + mail.filter((one) => one.acknowledged.size > 0).length, 0);
}

/** Hands in again what is open, waits until everything has ended, ends the daemon, and judges. */
export async function finishSubmission(
  place: SubmissionWorld,
  daemon: DaemonProcess,
): Promise<SubmissionVerdict> {
  const { world, users, mailboxIds } = place;
  const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
  const countUnanswered = () => users.reduce((sum, { clients }) => sum + clients.unanswered.length, 0);
  while (countUnanswered() > 0 && !signal.aborted)
    await handIn(place, { pauseMs: 0, signal, most: 0, persistent: true });
  const faults = countUnanswered() > 0 ? [`${countUnanswered()} messages were never taken`] : [];
  faults.push(...(await untilQuiet(world, daemon, signal)));
  const mail = users.flatMap((user) => user.mail);
  world.others += mail.filter(({ kind }) => kind === 'application').length;
  faults.push(...wrongIn(await finish(world, daemon)));
  const { dataDir, receiptsApart: receipts, endOfLifeMs } = world;
  const verdict = judgeSubmission({
    mail,
    receipts,
    endOfLifeMs,
    rows: readTables(dataDir).rows,
    reader: readMailbox(dataDir, mailboxIds.reader),
    refusedWriter: readMailbox(dataDir, mailboxIds.refusedWriter),
    ...readCounts(dataDir),
  });
  const refusals = users.flatMap(({ clients }) => clients.refusals);
  faults.push(...refusals.map((refusal) => `answered under load: ${refusal}`));
  return { ...verdict, faults: [...faults, ...verdict.faults] };
}

const LEFT = `
  SELECT (SELECT count(*) FROM messages WHERE mailboxId IS NOT NULL) + (SELECT count(*) FROM unsentMail)`;
/** The counts of mailboxes: their tenant has counts of its own for the same recipients. */
const COUNTED = "SELECT coalesce(sum(recipients), 0) FROM recipientCounts WHERE owner LIKE '%@%'";

function readCounts(dataDir: string): { leftRows: number; counted: number } {
  const number = (database: Database, query: string) => Number(database.prepare(query).pluck().get());
  return withDatabase(dataDir, { readonly: true }, (database) => ({
    leftRows: number(database, LEFT),
    counted: number(database, COUNTED),
  }));
}
