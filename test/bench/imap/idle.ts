/** Memory of a connection that waits. Each row has a daemon of its own, because freed memory would count as its own. */
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { treeMemory } from '../process-tree.ts';
import type { Group, Measure } from '../row.ts';
import type { Workspace } from '../workspace.ts';
import { ImapConnection } from './client.ts';
import { startPostriderImap } from './postrider-server.ts';
import { FOLDER, fillSystem, type ImapSystem } from './system.ts';

const CONNECTIONS = 5_000;
const OPENED_AT_A_TIME = 20;
/** Number of addresses of this machine that the connections come from. One address may have 200, and 600 new ones a minute. */
const ADDRESSES = 50;
const MESSAGES = 200;
const KIB_PER_MIB = 1_024;
/** A client first looks at its newest mail. */
const FIRST_COMMANDS = `a SELECT ${FOLDER}\r\nb FETCH 1:20 (FLAGS ENVELOPE)\r\nc IDLE\r\n`;
const FLUSHED = { finishFlush: constants.Z_SYNC_FLUSH };

export const imapIdle: Group = {
  name: 'imap-idle',
  async prepare(workspace) {
    const measure = (isCompressed: boolean) => () => startAndMeasure(workspace, isCompressed);
    const common = { unit: 'KiB', rounds: 1 } as const;
    return {
      rows: [
        {
          ...{ ...common, name: 'Postrider: each of 5,000 connections in IDLE', aim: '<= 60 KiB' },
          measure: measure(false),
        },
        {
          ...{
            ...common,
            name: 'Postrider: each of 5,000 connections in IDLE, with COMPRESS',
            aim: '<= 110 KiB',
          },
          measure: measure(true),
        },
      ],
    };
  },
};

async function startAndMeasure(workspace: Workspace, isCompressed: boolean): Promise<Measure> {
  await using system = await fillSystem(await startPostriderImap(workspace, 1), MESSAGES);
  return await measureIdle(system, isCompressed);
}

/** Returns the memory that each of 5,000 connections in IDLE adds, with their mailbox selected. */
async function measureIdle({ port, users, pids }: ImapSystem, isCompressed: boolean): Promise<Measure> {
  const [user] = users;
  if (!user) throw new Error('the server has no users');
  const before = treeMemory(pids).proportionalMiB;
  const connections: ImapConnection[] = [];
  let opened = 0;
  const open = async (): Promise<void> => {
    for (let number = opened++; number < CONNECTIONS; number = opened++) {
      const connection = await ImapConnection.login(port, user, `127.0.1.${(number % ADDRESSES) + 1}`);
      connections.push(connection);
      await (isCompressed ? idleCompressed(connection) : connection.sendUntil(FIRST_COMMANDS, hasIdled));
    }
  };
  await Promise.all(Array.from({ length: OPENED_AT_A_TIME }, open));
  const memory = treeMemory(pids);
  for (const connection of connections) connection.close();
  return { figure: ((memory.proportionalMiB - before) * KIB_PER_MIB) / CONNECTIONS, memory };
}

async function idleCompressed(connection: ImapConnection): Promise<void> {
  await connection.run('COMPRESS DEFLATE');
  await connection.sendUntil(deflateRawSync(FIRST_COMMANDS, FLUSHED), (received) =>
    hasIdled(inflateRawSync(received, FLUSHED)),
  );
}

function hasIdled(received: Buffer): boolean {
  return received.includes('\r\n+ idling\r\n');
}
