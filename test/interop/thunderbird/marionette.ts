/**
 * A client of Marionette, the remote protocol of Thunderbird and Firefox: JSON messages over TCP, each preceded by its
 * length in bytes and a colon. A command is `[0, id, name, parameters]`, and its response is `[1, id, error, result]`.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../until.ts';

type Response = [type: 1, id: number, error: { error: string; message: string } | null, result: unknown];

const COMMAND = 0;
/** Thunderbird takes some seconds to start, and many on a busy machine. */
const START_TIMEOUT_MS = 60_000;

export type Marionette = {
  /** Runs a command and resolves with its result. Rejects with the error that the program reports. */
  command(name: string, parameters?: object): Promise<unknown>;
  close(): void;
};

/** Connects as soon as the program listens, and takes the one session that it offers. */
export async function connectMarionette(port: number): Promise<Marionette> {
  const socket = await until('Thunderbird listens for Marionette', () => dial(port), START_TIMEOUT_MS);
  const messages = readMessages(socket);
  // The first message introduces the protocol.
  await messages.next();
  let lastId = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const exchange = async (name: string, parameters: object) => {
    const message = Buffer.from(JSON.stringify([COMMAND, ++lastId, name, parameters]));
    socket.write(`${message.length}:${message}`);
    const { value, done } = await messages.next();
    if (done === true) throw new Error(`Thunderbird ended during ${name}`);
    const [, , error, result] = value as Response;
    if (error !== null) throw new Error(`${name}: ${error.error}: ${error.message}`);
    return result;
  };
  const marionette: Marionette = {
    command(name, parameters = {}) {
      // The program handles one command at a time.
      const result = previous.then(() => exchange(name, parameters));
      previous = result.catch(() => undefined);
      return result;
    },
    close: () => socket.destroy(),
  };
  // Otherwise each command dismisses the dialogs that are open.
  const alwaysMatch = { unhandledPromptBehavior: 'ignore' };
  await marionette.command('WebDriver:NewSession', { capabilities: { alwaysMatch } });
  await marionette.command('Marionette:SetContext', { value: 'chrome' });
  return marionette;
}

async function dial(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

async function* readMessages(socket: Socket): AsyncGenerator<unknown> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const colon = bytes.indexOf(':');
      if (colon === -1) break;
      const end = colon + 1 + Number(bytes.toString('latin1', 0, colon));
      if (bytes.length < end) break;
      const message = bytes.toString('utf8', colon + 1, end);
      bytes = bytes.subarray(end);
      yield JSON.parse(message);
    }
  }
}
