/**
 * Servers that send mail to the daemon, several messages in each session. A letter that is sent again has another Message-ID, so that each
 * transmission can be told from the others.
 */
import { rsaTestKey, type TestKey } from '../../support/sign-message.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { type ClientsRun, SmtpClients } from '../smtp-clients.ts';
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

export type SendersRun = Pick<ClientsRun<Letter>, 'clients' | 'pauseMs' | 'signal' | 'persistent'> & {
  port: number;
  /** Maximum number of new letters of this run; 0 only repeats. */
  most: number;
  /** Kind of the first new letter. By default it is left to chance, like that of all others. */
  first?: LetterKind | undefined;
  /** Maximum number of answers of readers that are left to chance; by default as many as there are readers. */
  answers?: number;
};

/** Shares of the kinds of letters; all others are for the route or the mailbox. */
const ANSWER_SHARE = 0.4;
const FORWARD_SHARE = 0.15;
const RETURNED_SHARE = 0.05;
const NOTIFIED_SHARE = 0.05;
const REPORT_SHARE = 0.05;
/** Maximum number of reports that are left to chance: a domain gets a limited number a day (mail-reports/reports/store.ts). */
const MAX_REPORTS = 500;
/** Share of the mailbox of letters for it and for the route. */
const MAILBOX_SHARE = 0.4;
/** Share of these letters that have a file. */
const FILE_SHARE = 0.1;

/** What is left of a run. */
type Left = { count: number; answers: number; first: LetterKind | undefined };

export class Senders {
  /** The key of all who sign their mail. */
  readonly key: TestKey = rsaTestKey();
  /** All letters, in the order of their first transmissions. */
  readonly letters: Letter[] = [];
  readonly #clients = new SmtpClients<Letter>();
  readonly #random: SeededRandom;
  readonly #readers: Reader[] = [];
  #addresses: Addresses = { complaints: '', reports: '' };
  #reports = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Letters that no 250 was read for. */
  get unanswered(): readonly Letter[] {
    return this.#clients.unanswered;
  }

  /** Replies that must not come. */
  get refusals(): readonly string[] {
    return this.#clients.refusals;
  }

  /** Number of replies that put a message off. */
  get deferrals(): ReadonlyMap<string, number> {
    return this.#clients.deferrals;
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
    this.#clients.forget(letter, messageIds);
  }

  /** Runs until the signal, the limit, or the daemon's end. */
  async run({ port, most, first, answers = this.#readers.length, ...run }: SendersRun): Promise<void> {
    const left = { count: most, answers, first };
    await this.#clients.run({
      ...run,
      serverFor: () => ({ port }),
      next: () => this.#next(left),
      transmissionOf: (letter, number) => {
        const name = messageIdOf(letter, number);
        return { name, ...envelopeOf(letter, this.#addresses), bytes: messageOf(letter, name, this.key) };
      },
    });
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
      refused: new Set(),
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
    if (share < REPORT_SHARE + FORWARD_SHARE + RETURNED_SHARE) return 'returned';
    const sharesOfMail = REPORT_SHARE + FORWARD_SHARE + RETURNED_SHARE + NOTIFIED_SHARE;
    if (share < sharesOfMail) return 'notified';
    if (share >= sharesOfMail + ANSWER_SHARE || left.answers <= 0)
      return this.#random.share() < MAILBOX_SHARE ? 'mailbox' : 'post';
    left.answers -= 1;
    return ANSWERS[Math.floor(this.#random.share() * ANSWERS.length)] ?? 'bounce';
  }
}

function isAnswer(kind: LetterKind): boolean {
  return ANSWERS.some((answer) => answer === kind);
}
