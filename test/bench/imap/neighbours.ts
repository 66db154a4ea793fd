/** How long a command of one mailbox takes while many sessions of another one sort and thread all of its messages. */
import { percentile } from '../percentile.ts';
import type { Group, Measure } from '../row.ts';
import type { Workspace } from '../workspace.ts';
import { ImapConnection, type ImapUser } from './client.ts';
import { startPostriderImap } from './postrider-server.ts';
import { FOLDER, fillSystem } from './system.ts';

const MESSAGES = 20_000;
const BUSY_SESSIONS = 20;
const NOOPS = 200;
const BUSY_COMMANDS = [
  'UID SORT (REVERSE SUBJECT DATE) UTF-8 ALL',
  'UID THREAD REFERENCES UTF-8 ALL',
  'UID SEARCH OR SUBJECT quarterly NOT FROM nobody',
  'FETCH 1:* FLAGS',
] as const;
/** More users than threads of accounts, so that each thread has another user than the busy one. */
const USERS = 5;

export const imapNeighbours: Group = {
  name: 'imap-neighbours',
  async prepare(workspace) {
    return {
      rows: [
        {
          ...{ name: 'Postrider: NOOP beside 20 busy sessions of another mailbox, p99', unit: 'ms' },
          aim: '<= 100 ms',
          measure: () => measureNeighbours(workspace),
        },
      ],
    };
  },
};

async function measureNeighbours(workspace: Workspace): Promise<Measure> {
  await using server = await fillSystem(await startPostriderImap(workspace, USERS), MESSAGES);
  const busy: ImapConnection[] = [];
  const [first, ...others] = server.users as [ImapUser, ...ImapUser[]];
  const neighbours = await Promise.all(others.map((user) => openSession(server.port, user, 'INBOX')));
  for (let count = 0; count < BUSY_SESSIONS; count++)
    busy.push(await openSession(server.port, first, FOLDER));
  let isOver = false;
  const work = Promise.all(
    busy.map(async (connection, index) => {
      for (let round = index; !isOver; round++)
        await connection.run(BUSY_COMMANDS[round % BUSY_COMMANDS.length] as string);
    }),
  ).catch((error: unknown) => {
    if (!isOver) throw error;
  });
  const times = await Promise.all(neighbours.map(measureNoops));
  isOver = true;
  for (const connection of [...busy, ...neighbours]) connection.close();
  await work;
  // The neighbour in the thread of the busy mailbox is the slowest.
  const worst = times.reduce((one, other) => (percentile(other, 0.99) > percentile(one, 0.99) ? other : one));
  const of = (share: number) => percentile(worst, share);
  return { figure: of(0.99), p50Ms: of(0.5), p99Ms: of(0.99) };
}

async function openSession(port: number, user: ImapUser, folder: string): Promise<ImapConnection> {
  const connection = await ImapConnection.login(port, user);
  await connection.run(`SELECT ${folder}`);
  return connection;
}

async function measureNoops(connection: ImapConnection): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < NOOPS; count++) times.push((await connection.run('NOOP')).ms);
  return times;
}
