/**
 * SMTP clients that send messages, several in each session, and keep a record of every 250. A message without a reply, or with a reply that
 * puts it off, is sent again, as servers and mail programs do.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { createClient, type TestClient } from '../mail/smtp/server/fixture.ts';

/** A message, which is sent until a 250 is read. Each of its transmissions has a name of its own. */
export type Sent = {
  /** Number of transmissions so far. */
  transmissions: number;
  /** Ids that the daemon answered with, by the names of transmissions. */
  acknowledged: Map<string, string>;
  /** Names of transmissions that were refused or put off. */
  refused: Set<string>;
};

export type Transmission = {
  name: string;
  from: string;
  to: string;
  /** Parameters of RCPT, such as ` NOTIFY=SUCCESS`. */
  wishes?: string;
  bytes: string | Buffer;
};

export type SmtpServer = {
  port: number;
  /** How the session gets TLS. Without this field it has none. */
  tls?: 'immediate' | 'starttls';
  login?: { username: string; password: string };
};

export type ClientsRun<Message> = {
  clients: number;
  /** Time between a reply and the next message of a client. */
  pauseMs: number;
  /** Ends the run, which waits for the message in transmission. */
  signal: AbortSignal;
  /** Default: a client whose connection ends takes the daemon for dead, and ends. */
  persistent?: boolean;
  /** Returns the server of the client with this number, from 0. */
  serverFor(client: number): SmtpServer;
  /** Returns a new message; undefined when there are no more. */
  next(): Message | undefined;
  /** Returns the transmission with this number, from 1. */
  transmissionOf(message: Message, number: number): Transmission;
};

/** Matches the reply to a message that was accepted, with its id. */
const ACCEPTED = /^250 .*queued as ((?:em|in)_\w+)/;
/** Time before a message that was put off is sent again, and before another connection. */
const RETRY_PAUSE_MS = 50;
/** An address of this network for each client: one address has a limited number of connections. */
const FIRST_CLIENT = 20;
const REPLY_TIMEOUT_MS = 30_000;

export class SmtpClients<Message extends Sent> {
  /** Messages that no 250 was read for. */
  readonly unanswered: Message[] = [];
  /** Replies that must not come: anything but 250, 421 and what puts a message off. */
  readonly refusals: string[] = [];
  /** Number of replies that put a message off, by the step and the code, such as `DATA 452`; `message` is the final dot. */
  readonly deferrals = new Map<string, number>();

  /** Takes replies for not read: the message is sent again. */
  forget(message: Message, names: readonly string[]): void {
    for (const name of names) message.acknowledged.delete(name);
    if (message.acknowledged.size === 0) this.unanswered.push(message);
  }

  /** Runs until the signal, the last message, or the daemon's end. */
  async run(run: ClientsRun<Message>): Promise<void> {
    await Promise.all(Array.from({ length: run.clients }, (_, number) => this.#client(run, number)));
  }

  async #client(run: ClientsRun<Message>, number: number): Promise<void> {
    let client: TestClient | undefined;
    while (!run.signal.aborted) {
      const message = this.unanswered.shift() ?? run.next();
      if (!message) break;
      client ??= await this.#open(run.serverFor(number), number);
      const isTaken = client !== undefined && (await this.#send(client, message, run));
      if (!isTaken) this.unanswered.push(message);
      if (!client || client.socket.destroyed || client.socket.readableEnded) {
        client?.socket.destroy();
        client = undefined;
        if (!run.persistent) break;
      }
      await sleep(isTaken ? run.pauseMs : RETRY_PAUSE_MS);
    }
    client?.socket.destroy();
  }

  /** Opens a session. Returns undefined when there is no daemon, or none that takes mail. */
  async #open(server: SmtpServer, number: number): Promise<TestClient | undefined> {
    const { client, reply } = await openSession(server, `127.0.0.${FIRST_CLIENT + number}`);
    if (reply.startsWith('2')) return client;
    this.#note('EHLO', reply);
    client.socket.destroy();
    return undefined;
  }

  /** Sends a message. Returns true after a 250. */
  async #send(
    client: TestClient,
    message: Message,
    { transmissionOf }: ClientsRun<Message>,
  ): Promise<boolean> {
    message.transmissions += 1;
    const { name, from, to, wishes = '', bytes } = transmissionOf(message, message.transmissions);
    for (const command of [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>${wishes}`, 'DATA']) {
      const reply = await client.ask(`${command}\r\n`);
      if (/^[23]/.test(reply)) continue;
      message.refused.add(name);
      this.#note(command.slice(0, 4), reply);
      if (!client.socket.destroyed) await client.ask('RSET\r\n');
      return false;
    }
    client.send(bytes);
    const reply = await client.ask('.\r\n');
    const id = ACCEPTED.exec(reply)?.[1];
    if (id === undefined) {
      if (/^[45]/.test(reply)) message.refused.add(name);
      this.#note('message', reply);
      return false;
    }
    message.acknowledged.set(name, id);
    return true;
  }

  /** A connection that ends says nothing: the daemon is gone, or will be asked again. */
  #note(step: string, reply: string): void {
    if (reply.startsWith('closed')) return;
    const key = `${step} ${reply.slice(0, 3)}`;
    if (reply.startsWith('4')) this.deferrals.set(key, (this.deferrals.get(key) ?? 0) + 1);
    else this.refusals.push(`${step}: ${reply.trim().replace(/(em|in)_\w+/g, '$1_…')}`);
  }
}

/** Opens a session up to its login. Returns the last reply, which begins with 2 when mail may be sent. */
async function openSession(
  { port, tls, login }: SmtpServer,
  localAddress: string,
): Promise<{ client: TestClient; reply: string }> {
  const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
  const isSecure = tls === 'immediate';
  let client = createClient(isSecure ? connectTls({ socket, rejectUnauthorized: false }) : socket);
  client.socket.setTimeout(REPLY_TIMEOUT_MS, () => client.socket.destroy());
  let reply = await client.reply();
  const ask = async (command: string) => {
    if (reply.startsWith('2')) reply = await client.ask(`${command}\r\n`);
  };
  await ask('EHLO mx.author.test');
  if (tls === 'starttls') {
    await ask('STARTTLS');
    const plain = client;
    plain.socket.setTimeout(0);
    if (reply.startsWith('2'))
      try {
        client = await plain.encrypt();
        client.socket.setTimeout(REPLY_TIMEOUT_MS, () => client.socket.destroy());
      } catch {
        return { client: plain, reply: 'closed' };
      }
    await ask('EHLO mx.author.test');
  }
  if (login) {
    const { username, password } = login;
    await ask(`AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`);
  }
  return { client, reply };
}
