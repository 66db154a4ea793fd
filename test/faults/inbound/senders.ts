/**
 * Servers that send mail to the daemon, several messages in each session, and keep a record of every 250. Mail without a
 * reply, or with a reply that puts it off, is sent again.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type TestClient } from '../../mail/smtp/server/fixture.ts';
import { rsaTestKey, type TestKey } from '../../support/sign-message.ts';
import type { SeededRandom } from '../seeded-random.ts';
import {
  type Addresses,
  ANSWERS,
  envelopeOf,
  type Letter,
  type LetterKind,
  messageIdOf,
  messageOf,
} from './letter.ts';
import type { Reader } from './readers.ts';

export type SendersRun = {
  port: number;
  clients: number;
  /** Time between a reply and the next message of a client. */
  pauseMs: number;
  /** Ends the run, which waits for the message in transmission. */
  signal: AbortSignal;
  /** Maximum number of new letters of this run; 0 only repeats. */
  most: number;
  /** Default: a client whose connection ends takes the daemon for dead, and ends. */
  persistent?: boolean;
  /** Kind of the first new letter. By default it is left to chance, like that of all others. */
  first?: LetterKind | undefined;
  /** Maximum number of answers of readers that are left to chance; by default as many as there are readers. */
  answers?: number;
};

/** Shares of the kinds of letters; all others are for the route or the mailbox. */
const ANSWER_SHARE = 0.4;
const FORWARD_SHARE = 0.15;
const RETURNED_SHARE = 0.05;
const REPORT_SHARE = 0.05;
/** Maximum number of reports that are left to chance: a domain gets a limited number a day (inbound/reports/store.ts). */
const MAX_REPORTS = 500;
/** Share of the mailbox of letters for it and for the route. */
const MAILBOX_SHARE = 0.4;
/** Share of these letters that have a file. */
const FILE_SHARE = 0.1;
/** Time before a message that was put off is sent again, and before another connection. */
const PATIENCE_MS = 50;
/** An address of this network for each client: one address has a limited number of connections. */
const FIRST_CLIENT = 20;
const REPLY_TIMEOUT_MS = 30_000;

/** What is left of a run. */
type Left = { count: number; answers: number; first: LetterKind | undefined };

export class Senders {
  /** The key of all who sign their mail. */
  readonly key: TestKey = rsaTestKey();
  /** All letters, in the order of their first transmissions. */
  readonly letters: Letter[] = [];
  /** Letters that no 250 was read for. */
  readonly unanswered: Letter[] = [];
  /** Replies that must not come: anything but 250, 421 and what puts a message off. */
  readonly refusals: string[] = [];
  /** Number of replies that put a message off, by the step and the code, such as `DATA 452`; `message` is the final dot. */
  readonly deferrals = new Map<string, number>();
  readonly #random: SeededRandom;
  readonly #readers: Reader[] = [];
  #addresses: Addresses = { complaints: '', reports: '' };
  #reports = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Adds readers whose mail leads to letters, and the addresses that letters go to. */
  add(readers: readonly Reader[], addresses: Addresses): void {
    this.#readers.push(...readers);
    this.#addresses = addresses;
  }

  /** Letters with at least one 250. */
  get acknowledged(): Letter[] {
    return this.letters.filter(({ acknowledged }) => acknowledged.size > 0);
  }

  /** Takes replies for not read: the letters are sent again. */
  forget(letter: Letter, messageIds: readonly string[]): void {
    for (const messageId of messageIds) letter.acknowledged.delete(messageId);
    if (letter.acknowledged.size === 0) this.unanswered.push(letter);
  }

  /** Runs until the signal, the limit, or the daemon's end. */
  async run(run: SendersRun): Promise<void> {
    const left = { count: run.most, answers: run.answers ?? this.#readers.length, first: run.first };
    await Promise.all(Array.from({ length: run.clients }, (_, client) => this.#client(run, left, client)));
  }

  async #client(run: SendersRun, left: Left, number: number): Promise<void> {
    let client: TestClient | undefined;
    while (!run.signal.aborted) {
      const letter = this.unanswered.shift() ?? this.#next(left);
      if (!letter) break;
      client ??= await this.#open(run.port, number);
      const isTaken = client !== undefined && (await this.#send(client, letter));
      if (!isTaken) this.unanswered.push(letter);
      if (!client || client.socket.destroyed || client.socket.readableEnded) {
        client?.socket.destroy();
        client = undefined;
        if (!run.persistent) break;
      }
      await sleep(isTaken ? run.pauseMs : PATIENCE_MS);
    }
    client?.socket.destroy();
  }

  /** Opens a session. Returns undefined when there is no daemon, or none that takes mail. */
  async #open(port: number, number: number): Promise<TestClient | undefined> {
    const localAddress = `127.0.0.${FIRST_CLIENT + number}`;
    const client = createClient(connect({ host: '127.0.0.1', port, localAddress, noDelay: true }));
    client.socket.setTimeout(REPLY_TIMEOUT_MS, () => client.socket.destroy());
    const banner = await client.reply();
    const greeting = banner.startsWith('220') ? await client.ask('EHLO mx.author.test\r\n') : banner;
    if (greeting.startsWith('250')) return client;
    this.#note('EHLO', greeting);
    client.socket.destroy();
    return undefined;
  }

  /** Sends a letter. Returns true after a 250. */
  async #send(client: TestClient, letter: Letter): Promise<boolean> {
    letter.transmissions += 1;
    const messageId = messageIdOf(letter, letter.transmissions);
    const { from, to } = envelopeOf(letter, this.#addresses);
    for (const command of [`MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']) {
      const reply = await client.ask(`${command}\r\n`);
      if (/^[23]/.test(reply)) continue;
      this.#note(command.slice(0, 4), reply);
      if (!client.socket.destroyed) await client.ask('RSET\r\n');
      return false;
    }
    const reply = await client.ask(`${messageOf(letter, messageId, this.key)}.\r\n`);
    const id = /^250 .*queued as (in_\w+)/.exec(reply)?.[1];
    if (id === undefined) {
      this.#note('message', reply);
      return false;
    }
    letter.acknowledged.set(messageId, id);
    return true;
  }

  /** A connection that ends says nothing: the daemon is gone, or will be asked again. */
  #note(step: string, reply: string): void {
    if (reply.startsWith('closed')) return;
    const key = `${step} ${reply.slice(0, 3)}`;
    if (reply.startsWith('4')) this.deferrals.set(key, (this.deferrals.get(key) ?? 0) + 1);
    else this.refusals.push(`${step}: ${reply.trim().replace(/in_\w+/g, 'in_…')}`);
  }

  #next(left: Left): Letter | undefined {
    if (left.count <= 0) return undefined;
    left.count -= 1;
    const kind = left.first ?? this.#chooseKind(left);
    left.first = undefined;
    const reader = isAnswer(kind) ? this.#readers.shift() : undefined;
    const letter: Letter = {
      // Without a reader there is nobody to answer.
      kind: isAnswer(kind) && !reader ? 'post' : kind,
      number: this.letters.length + 1,
      reader,
      hasFile: (kind === 'post' || kind === 'mailbox') && this.#random.share() < FILE_SHARE,
      transmissions: 0,
      acknowledged: new Map(),
    };
    this.letters.push(letter);
    return letter;
  }

  #chooseKind(left: Left): LetterKind {
    const share = this.#random.share();
    if (share < REPORT_SHARE && this.#reports < MAX_REPORTS) {
      this.#reports += 1;
      return 'report';
    }
    if (share < REPORT_SHARE + FORWARD_SHARE) return 'forward';
    const sharesOfMail = REPORT_SHARE + FORWARD_SHARE + RETURNED_SHARE;
    if (share < sharesOfMail) return 'returned';
    if (share >= sharesOfMail + ANSWER_SHARE || left.answers <= 0)
      return this.#random.share() < MAILBOX_SHARE ? 'mailbox' : 'post';
    left.answers -= 1;
    return ANSWERS[Math.floor(this.#random.share() * ANSWERS.length)] ?? 'bounce';
  }
}

function isAnswer(kind: LetterKind): boolean {
  return ANSWERS.some((answer) => answer === kind);
}
