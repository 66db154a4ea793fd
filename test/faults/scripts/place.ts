/** The world of a daemon whose mailboxes have a script of five actions, and the servers that send letters to them. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { createClient } from '../../mail/imap/fixture.ts';
import { sieveClient } from '../../mail/managesieve/fixture.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { freePort, listens } from '../../support/loopback.ts';
import { finish } from '../finish.ts';
import { readTables } from '../inbound/audit.ts';
import type { FoundFolder } from '../mailboxes/audit.ts';
import { MailboxClient } from '../mailboxes/client.ts';
import { allowMailboxes, createMailbox, PASSWORD } from '../new-mailbox.ts';
import { withDatabase } from '../open-database.ts';
import { untilQuiet } from '../quiet.ts';
import { wrongIn } from '../report.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type ClientsRun, SmtpClients } from '../smtp-clients.ts';
import { beginWorld, HOSTNAME, RECIPIENT_DOMAIN, SENDER_DOMAIN, type World } from '../world.ts';
import { judgeScripts, type ScriptVerdict } from './audit.ts';
import {
  AUTHOR_DOMAIN,
  addressOf,
  countMailboxes,
  type Letter,
  SCRIPT_NAME,
  scriptOf,
  transmissionOf,
} from './letter.ts';

export type ScriptWorld = AsyncDisposable & {
  world: World;
  ports: { smtp: number; imap: number; pop3: number; managesieve: number };
  servers: SmtpClients<Letter>;
  letters: Letter[];
  addresses: readonly string[];
  random: SeededRandom;
};

/** `letters` is the maximum number of letters. */
type Options = { random: SeededRandom; name: string; letters: number };

const ZONE = `${SENDER_DOMAIN} MX 10 ${HOSTNAME}\n${AUTHOR_DOMAIN} MX 10 mx.${RECIPIENT_DOMAIN}`;
const LARGE_SHARE = 0.2;
const CLIENTS = 3;
const PAUSE_MS = 50;
const SETTLE_TIMEOUT_MS = 3 * 60_000;

/** Creates the world. Its first life makes the mailboxes with their scripts, and ends in peace. */
export async function createScriptWorld({ random, name, letters }: Options): Promise<ScriptWorld> {
  const ports = {
    smtp: await freePort(),
    imap: await freePort(),
    pop3: await freePort(),
    managesieve: await freePort(),
  };
  const env = {
    POSTRIDER_SMTP_PORT: String(ports.smtp),
    POSTRIDER_IMAP_STARTTLS: 'true',
    POSTRIDER_IMAP_STARTTLS_PORT: String(ports.imap),
    POSTRIDER_MANAGESIEVE_ADDRESS: '127.0.0.1',
    POSTRIDER_MANAGESIEVE_PORT: String(ports.managesieve),
  };
  const options = { random, name, env, zone: ZONE, isSubscribed: false, isApart: () => true };
  const { world, daemon } = await beginWorld(options);
  const addresses = Array.from({ length: countMailboxes(letters) }, (_, mailbox) => addressOf(mailbox));
  await allowMailboxes(world, daemon);
  for (const address of addresses) {
    await createMailbox(world, daemon, address);
    await activateScript(ports.managesieve, address);
  }
  await daemon.stop();
  await world.endLife(Date.now());
  let version = 1;
  const { start } = world;
  world.start = (...how) => {
    replaceScripts(world.dataDir, scriptOf(++version));
    return start(...how);
  };
  const servers = new SmtpClients<Letter>();
  return {
    world,
    ports,
    servers,
    letters: [],
    addresses,
    random,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Uploads the script by ManageSieve, whose port is opened a moment after there is a mailbox. */
async function activateScript(port: number, address: string): Promise<void> {
  while (!(await listens(port))) await sleep(PAUSE_MS);
  const script = scriptOf(1);
  const client = sieveClient(createClient(connect({ host: '127.0.0.1', port, noDelay: true })));
  try {
    const login = Buffer.from(`\0${address}\0${PASSWORD}`).toString('base64');
    const answers = [
      await client.completed(),
      await client.run(`AUTHENTICATE "PLAIN" "${login}"`),
      await client.run(`PUTSCRIPT "${SCRIPT_NAME}" {${script.length}+}\r\n${script}`),
      await client.run(`SETACTIVE "${SCRIPT_NAME}"`),
    ];
    const refusal = answers.map((lines) => lines.at(-1)).find((line) => !line?.startsWith('OK'));
    if (refusal !== undefined) throw new Error(`ManageSieve: ${refusal}`);
  } finally {
    client.socket.destroy();
  }
}

/** Replaces the script of each mailbox while the daemon does not run. */
function replaceScripts(dataDir: string, script: string): void {
  withDatabase(dataDir, { readonly: false }, (database) => {
    const change = 'UPDATE mailboxScripts SET content = ?, sizeBytes = ? WHERE name = ?';
    database.prepare(change).run(script, script.length, SCRIPT_NAME);
  });
}

type Sending = Pick<ClientsRun<Letter>, 'pauseMs' | 'signal' | 'persistent'> & {
  /** Maximum number of new letters; 0 only repeats. */
  most: number;
};

/** Sends letters until all are taken or the daemon is dead. */
export async function sendLetters(
  { servers, letters, ports, random }: ScriptWorld,
  { most, ...run }: Sending,
): Promise<void> {
  const last = letters.length + most;
  await servers.run({
    ...run,
    clients: CLIENTS,
    serverFor: () => ({ port: ports.smtp }),
    next() {
      if (letters.length >= last) return undefined;
      const isLarge = random.share() < LARGE_SHARE;
      const sent = { transmissions: 0, acknowledged: new Map(), refused: new Set<string>() };
      const letter: Letter = { number: letters.length + 1, isLarge, ...sent };
      letters.push(letter);
      return letter;
    },
    transmissionOf,
  });
}

/** Sends what is open again, waits until everything has ended, reads the mailboxes, ends the daemon, and judges. */
export async function finishScripts(place: ScriptWorld, daemon: DaemonProcess): Promise<ScriptVerdict> {
  const { world, servers, letters } = place;
  const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
  while (servers.unanswered.length > 0 && !signal.aborted)
    await sendLetters(place, { pauseMs: 0, signal, most: 0, persistent: true });
  const open = servers.unanswered.length;
  const faults = open > 0 ? [`${open} letters were never taken`] : [];
  faults.push(...(await untilQuiet(world, daemon, signal)));
  const mailboxes: FoundFolder[][] = [];
  for (const address of place.addresses) {
    const client = await MailboxClient.open(place.ports, { address, password: PASSWORD });
    mailboxes.push(await client.read());
    client.close();
    const { findings } = (await daemon.cli(['mailbox', 'check', address])) as { findings: string[] };
    faults.push(...findings.map((finding) => `mailbox check: ${finding}`));
  }
  faults.push(...wrongIn(await finish(world, daemon)));
  const verdict = judgeScripts({
    letters,
    mailboxes,
    received: readTables(world.dataDir).rows.map(({ messageId }) => messageId),
    receipts: world.receiptsApart,
    leftRows: withDatabase(world.dataDir, { readonly: true }, countLeft),
    endOfLifeMs: world.endOfLifeMs,
  });
  faults.push(...servers.refusals.map((refusal) => `answered under load: ${refusal}`));
  return { ...verdict, faults: [...faults, ...verdict.faults] };
}

const LEFT = `
  SELECT (SELECT count(*) FROM deliveryPlans) + (SELECT count(*) FROM messages WHERE mailboxId IS NOT NULL)
         + (SELECT count(*) FROM unsentMail)`;

function countLeft(database: Database): number {
  return Number(database.prepare(LEFT).pluck().get());
}
