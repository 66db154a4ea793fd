/** Measures the delay of the event loop that answers the API while the daemon hashes the passwords of many logins. */
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { withLoopDelay } from './event-loop.ts';
import type { Group, Measure } from './row.ts';
import { repliesOf } from './smtp-conversation.ts';
import { withDaemon } from './submission.ts';
import type { Workspace } from './workspace.ts';

const LOGINS = 100;
/** Number of logins of a client address. Twenty may fail within ten minutes. */
const PER_ADDRESS = 10;

export const passwordLogins: Group = {
  name: 'password-logins',
  async prepare(workspace) {
    return {
      rows: [
        {
          name: `Postrider: event loop during ${LOGINS} logins with passwords at once, p99`,
          unit: 'ms',
          aim: '< 20 ms',
          measure: () => measure(workspace),
        },
      ],
    };
  },
};

type Client = { ask(line: string): Promise<string>; close(): void };

function measure(workspace: Workspace): Promise<Measure> {
  return withDaemon(workspace, async ({ daemon, port }) => {
    const clients: Client[] = [];
    for (let index = 0; index < LOGINS; index++)
      clients.push(await open(port, `127.0.0.${2 + Math.floor(index / PER_ADDRESS)}`));
    const measured = await withLoopDelay(daemon, () => logInAll(clients));
    for (const client of clients) client.close();
    if (!measured.loop) throw new Error('the daemon has not told how late its event loop was');
    return { ...measured, figure: measured.loop.p99Ms };
  });
}

/** Logs in with names that nobody has, because each of them costs a hash, while a right password is remembered. */
async function logInAll(clients: readonly Client[]): Promise<Measure> {
  const startedAt = performance.now();
  const replies = await Promise.all(
    clients.map(({ ask }, index) => {
      const answer = Buffer.from(`\0nobody${index}@nowhere.example\0correct horse`).toString('base64');
      return ask(`AUTH PLAIN ${answer}`);
    }),
  );
  const wrong = replies.find((reply) => !reply.startsWith('535'));
  if (wrong !== undefined) throw new Error(`a login was answered ${wrong}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { figure: 0, details: { 'logins/s': LOGINS / seconds } };
}

async function open(port: number, localAddress: string): Promise<Client> {
  const socket = connect({
    socket: connectTcp({ host: '127.0.0.1', port, localAddress, noDelay: true }),
    rejectUnauthorized: false,
  });
  const reply = repliesOf(socket);
  await reply();
  const ask = (line: string): Promise<string> => {
    socket.write(`${line}\r\n`);
    return reply();
  };
  await ask('EHLO client.test');
  return { ask, close: () => socket.destroy() };
}
