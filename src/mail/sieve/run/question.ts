/** Questions of a run about the account. Each question has the answer yes or no. */

export type Question =
  /** Do all mailboxes with these names exist, and may mail be filed into them (RFC 5490 section 3.1)? */
  | { kind: 'mailboxesExist'; names: readonly string[] }
  /** Do mailboxes with all these ids exist (RFC 9042)? */
  | { kind: 'mailboxIdsExist'; ids: readonly string[] }
  /** Has this mailbox, or any mailbox where it is undefined, all these special uses (RFC 8579)? */
  | { kind: 'specialUsesExist'; mailbox: string | undefined; uses: readonly string[] }
  /** Is this key among those that runs of this account remembered, and whose time has not passed (RFC 7352)? */
  | { kind: 'isDuplicate'; key: string };

export type Answered = { question: Question; answer: boolean };

/** A key that is remembered from the time at which the message is delivered on (RFC 7352). */
export type RememberedKey = { key: string; seconds: number };

/** Maximum number of questions of one run, since each of them repeats it. Our own limit. */
export const MAX_QUESTIONS = 64;

/** Ends a run that needs an answer. It never leaves `runScript`. */
export class PendingQuestion extends Error {
  override readonly name = 'PendingQuestion';
  readonly question: Question;

  constructor(question: Question) {
    super('a question needs an answer');
    this.question = question;
  }
}

/** The answers that a run was given. */
export class Answers {
  readonly #answers: ReadonlyMap<string, boolean>;

  constructor(answers: readonly Answered[]) {
    this.#answers = new Map(answers.map(({ question, answer }) => [JSON.stringify(question), answer]));
  }

  /** True when no more questions may be asked. */
  get isFull(): boolean {
    return this.#answers.size >= MAX_QUESTIONS;
  }

  /** Returns the answer to a question; undefined when it has not been asked. */
  find(question: Question): boolean | undefined {
    return this.#answers.get(JSON.stringify(question));
  }
}
