/** Sends messages ahead to a client that retrieves one after the other, as most do (access/foreseen-answers.ts). */
import type { AnswersAhead } from '../access/foreseen-answers.ts';

/** Maximum number of answers that wait for a client to ask for them, and of their octets. Two threads have them in memory. */
const MAX_AHEAD = 16;
const MAX_AHEAD_BYTES = 64 * 1024;
/** Number of times that a client may send something else. Many delete each message once they have it, and nothing is gained for them. */
const MAX_UNFORESEEN = 3;

type Retrievals = {
  /** Sends answers ahead, behind all that was sent before, or drops them when some of that cannot leave yet. */
  send(ahead: AnswersAhead): void;
  /** Returns the size of the message at an index; undefined when there is none to retrieve. */
  sizeOf(index: number): number | undefined;
  /** Returns the whole answer to the retrieval of a message; undefined when the message is not in memory. */
  build(index: number): Buffer | undefined;
};

export class RetrievalsAhead {
  readonly #retrievals: Retrievals;
  /** Index of the message that was retrieved last. */
  #last: number | undefined;
  /** Answers to the retrievals behind that message, in order, which were not asked for yet. */
  #answers: Buffer[] = [];
  /** The answers were sent ahead, and nothing that was not foreseen has come since. */
  #isSent = false;
  /** Number of commands whose answers have left, and that are still to be read here. */
  #left = 0;
  #unforeseen = 0;

  constructor(retrievals: Retrievals) {
    this.#retrievals = retrievals;
  }

  /** Notes that the answers to the next commands have left. */
  noteLeft(commands: number): void {
    this.#left += commands;
  }

  /** Begins the retrieval of a message. Returns `left` when its answer has left, and otherwise its answer when there is one. */
  begin(index: number): 'left' | Buffer | undefined {
    const hasLeft = this.#left > 0;
    if (hasLeft) this.#left--;
    this.#count(hasLeft);
    if (index - 1 !== this.#last) this.#answers = [];
    const answer = this.#answers.shift();
    return hasLeft ? 'left' : answer;
  }

  /**
   * Ends the retrieval of a message, and sends the next ones ahead when it followed the one before. `answeredBytes` is the number of
   * octets of the client that are answered; undefined when others have arrived.
   */
  end(index: number, answeredBytes: number | undefined): void {
    const isNext = index - 1 === this.#last;
    this.#last = index;
    const isWanted = isNext && this.#unforeseen < MAX_UNFORESEEN;
    if (!isWanted || answeredBytes === undefined) return;
    if (!this.#isSent) this.#dropDeleted(index + 1);
    const sent = this.#isSent ? this.#answers.length : 0;
    if (sent > MAX_AHEAD / 2) return;
    this.#build(index + 1);
    const answers = this.#answers.map((answer, ahead) => ({
      command: `RETR ${index + ahead + 2}\r\n`,
      answer,
    }));
    this.#isSent = true;
    if (answers.length > sent)
      this.#retrievals.send({ answers: answers.slice(sent), madeAtBytes: answeredBytes });
  }

  #count(hasLeft: boolean): void {
    if (hasLeft) this.#unforeseen = 0;
    else if (this.#isSent && this.#answers.length > 0) this.#unforeseen++;
    this.#isSent &&= hasLeft;
  }

  /** Drops the answers from the first message on that was marked as deleted since they were built. */
  #dropDeleted(start: number): void {
    const kept = this.#answers.findIndex((_, ahead) => this.#retrievals.sizeOf(start + ahead) === undefined);
    if (kept >= 0) this.#answers.length = kept;
  }

  /** Builds further answers, from the first index on that has none. */
  #build(start: number): void {
    const { sizeOf, build } = this.#retrievals;
    let octets = this.#answers.reduce((sum, { length }) => sum + length, 0);
    while (this.#answers.length < MAX_AHEAD) {
      const index = start + this.#answers.length;
      const size = sizeOf(index);
      if (size === undefined || octets + size > MAX_AHEAD_BYTES) return;
      const answer = build(index);
      if (!answer) return;
      this.#answers.push(answer);
      octets += answer.length;
    }
  }
}
