/**
 * Stores an object in a bucket only if its name is new. S3 has a condition for this, `If-None-Match: *`. Some servers refuse it, and some
 * ignore it, which the first object that is stored shows: it is sent twice, and a server that knows the condition refuses the second one.
 *
 * Where a server does not know the condition, the store looks whether the name exists, stores the object, and a while later looks whether it is still its own: of
 * several hosts that store at the same time, the last one wins. This holds as long as no upload is under way for longer than that while.
 */
import { type Clock, sleep } from '../system/clock.ts';
import { StoreError } from './object-store.ts';
import { readS3Error, s3Refusal } from './s3-answers.ts';
import type { S3Requests } from './s3-requests.ts';

/** Time after which an object that was stored without the condition is looked at again, in milliseconds. */
export const SETTLE_MS = 3_000;
/** Maximum number of attempts when another request for the same name is under way, which S3 answers with 409. */
const MAX_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 100;

type Stored = 'stored' | 'exists' | 'unsupported';

export class S3Creation {
  readonly #clock: Clock;
  readonly #requests: S3Requests;
  /** True for a server that knows the condition, false for another; undefined before the first object is created. */
  #knowsCondition: boolean | undefined;

  constructor(clock: Clock, requests: S3Requests) {
    this.#clock = clock;
    this.#requests = requests;
  }

  /**
   * Stores the object unless the name exists. Returns whether it was stored.
   * @throws StoreError
   */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    const startedAt = this.#clock.elapsed();
    // A server that ignores the condition would replace an object that exists.
    if (this.#knowsCondition !== true && (await this.#read(key)) !== undefined) return false;
    if (this.#knowsCondition !== false) {
      const stored = await this.#storeIfNew(key, bytes);
      if (stored === 'exists') return false;
      if (stored === 'stored' && (await this.#wasCondition(key, bytes))) return true;
      this.#knowsCondition = false;
    }
    return await this.#createWithout(key, bytes, startedAt);
  }

  /** Sends the object again to a server that may ignore the condition. */
  async #wasCondition(key: string, bytes: Uint8Array): Promise<boolean> {
    this.#knowsCondition ??= (await this.#storeIfNew(key, bytes)) === 'exists';
    return this.#knowsCondition;
  }

  async #storeIfNew(key: string, bytes: Uint8Array): Promise<Stored> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#requests.upload(key, { bytes }, { 'if-none-match': '*' });
      if (answer.status === 200) return 'stored';
      if (answer.status === 412) return 'exists';
      if (answer.status === 501 || readS3Error(answer).code === 'NotImplemented') return 'unsupported';
      if (answer.status !== 409 || attempt === MAX_CONFLICTS) throw this.#refusal(answer, 'PUT');
      await sleep(this.#clock, CONFLICT_PAUSE_MS);
    }
  }

  async #createWithout(key: string, bytes: Uint8Array, startedAt: number): Promise<boolean> {
    const answer = await this.#requests.upload(key, { bytes });
    if (answer.status !== 200) throw this.#refusal(answer, 'PUT');
    if (this.#clock.elapsed() - startedAt > SETTLE_MS)
      throw new StoreError(
        'unreachable',
        `${this.#requests.host} was too slow to say who stored ${key} first: look at the object before the next attempt`,
      );
    await sleep(this.#clock, SETTLE_MS);
    return (await this.#read(key))?.equals(bytes) === true;
  }

  async #read(key: string): Promise<Buffer | undefined> {
    const found = await this.#requests.fetchObject(key);
    if (!('status' in found)) {
      const parts: Uint8Array[] = [];
      for await (const part of found) parts.push(part);
      return Buffer.concat(parts);
    }
    if (found.status === 404 && readS3Error(found).code !== 'NoSuchBucket') return undefined;
    throw this.#refusal(found, 'GET');
  }

  #refusal(answer: Parameters<typeof s3Refusal>[0], what: string): StoreError {
    return s3Refusal(answer, { host: this.#requests.host, what });
  }
}
