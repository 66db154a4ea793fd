/**
 * Answers that the thread of an account sends before its client asks for them: a program that takes one message after the other then
 * waits for the thread of the listener alone. That thread sends such an answer only to the very command that was foreseen, when all
 * octets before it were answered, so that answers keep the order of their commands.
 */

/** Answers to the next commands of a client, in order. */
export type AnswersAhead = {
  answers: readonly ForeseenAnswer[];
  /** Number of octets of the client that were answered when these answers were made. */
  madeAtBytes: number;
};

/** An answer, and the whole line of its command in ASCII. */
type ForeseenAnswer = { command: string; answer: Uint8Array };

/** The answers that wait in the thread of the listener for their commands. */
export class ForeseenAnswers {
  #answers: ForeseenAnswer[] = [];
  /** Number of answers at and below which the thread of the account is to learn how many have left, so that it sends others. */
  #lowCount = 0;
  /** Number of octets of the client that have passed, and of those up to the end of the last ones that were not foreseen. */
  #passedBytes = 0;
  #unforeseenBytes = 0;

  get isLow(): boolean {
    return this.#answers.length <= this.#lowCount;
  }

  /** Adds answers, unless the client has sent something else meanwhile. */
  add({ answers, madeAtBytes }: AnswersAhead): void {
    if (madeAtBytes < this.#unforeseenBytes) return;
    this.#answers.push(...answers);
    this.#lowCount = this.#answers.length >> 1;
  }

  /**
   * Notes octets of the client, and returns their answer when they are the next command that is foreseen. Others end what was
   * foreseen, as does a client that has not read the answers before: it gets no more of them from here.
   */
  take(octets: Buffer, hasReadAll: boolean): Uint8Array | undefined {
    this.#passedBytes += octets.length;
    const next = this.#answers.shift();
    if (next && hasReadAll && isCommand(octets, next.command)) return next.answer;
    this.#answers = [];
    this.#unforeseenBytes = this.#passedBytes;
    return undefined;
  }
}

function isCommand(octets: Buffer, command: string): boolean {
  return octets.length === command.length && octets.toString('latin1') === command;
}
