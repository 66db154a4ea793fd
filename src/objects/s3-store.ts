/** A store in a bucket of any S3 API. Objects are uploaded in one request each, so that a bucket never keeps parts of an upload that was given up. */
import type { System } from '../system/system.ts';
import {
  isObjectName,
  MAX_LISTED,
  type ObjectBody,
  type ObjectStore,
  requireName,
  requirePrefix,
  StoreError,
} from './object-store.ts';
import { readPage, readS3Error, s3Refusal } from './s3-answers.ts';
import { S3Creation } from './s3-create.ts';
import { type S3Options, S3Requests } from './s3-requests.ts';

/** Maximum size of a page of a list. A key with its facts takes at most 2 KB. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Maximum number of pages without any name of ours that are skipped, such as pages of objects that others have placed below the prefix. */
const MAX_SKIPPED_PAGES = 100;

export class S3Store implements ObjectStore {
  readonly #prefix: string;
  readonly #requests: S3Requests;
  readonly #creation: S3Creation;

  constructor(system: Pick<System, 'clock' | 'dns'>, options: S3Options) {
    this.#prefix = options.prefix;
    this.#requests = new S3Requests(system, options);
    this.#creation = new S3Creation(system.clock, this.#requests);
  }

  async put(name: string, body: ObjectBody): Promise<void> {
    requireName(name);
    const answer = await this.#requests.upload(name, body);
    if (answer.status !== 200) throw this.#refusal(answer, 'PUT');
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    requireName(name);
    return await this.#creation.create(name, bytes);
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    requireName(name);
    const found = await this.#requests.fetchObject(name);
    if (!('status' in found)) return found;
    if (found.status === 404 && readS3Error(found).code !== 'NoSuchBucket') return undefined;
    throw this.#refusal(found, 'GET');
  }

  async list(prefix: string, after = ''): Promise<string[]> {
    requirePrefix(prefix);
    let token: string | undefined;
    for (let pages = 0; pages < MAX_SKIPPED_PAGES; pages++) {
      const page = await this.#listPage({ prefix, after, token });
      const names = page.keys
        .filter((key) => key.startsWith(this.#prefix))
        .map((key) => key.slice(this.#prefix.length))
        .filter((name) => isObjectName(name) && name.startsWith(prefix) && name > after);
      if (names.length > 0 || !page.isTruncated) return names.sort(byCharacters);
      token = page.token;
      if (token === undefined)
        throw new StoreError(
          'refused',
          `${this.#requests.host} cut off a list without saying how it goes on`,
        );
    }
    throw new StoreError(
      'refused',
      `${this.#requests.host} has too many foreign objects below ${this.#prefix}${prefix}`,
    );
  }

  async remove(name: string): Promise<void> {
    requireName(name);
    const answer = await this.#requests.ask({ method: 'DELETE', key: name });
    const isGone = answer.status === 404 && readS3Error(answer).code !== 'NoSuchBucket';
    if (answer.status !== 204 && answer.status !== 200 && !isGone) throw this.#refusal(answer, 'DELETE');
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  async #listPage({ prefix, after, token }: { prefix: string; after: string; token: string | undefined }) {
    const query = {
      'list-type': '2',
      prefix: this.#prefix + prefix,
      'max-keys': String(MAX_LISTED),
      ...(after !== '' && token === undefined && { 'start-after': this.#prefix + after }),
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const answer = await this.#requests.ask({ method: 'GET', query }, MAX_PAGE_BYTES);
    if (answer.status !== 200) throw this.#refusal(answer, 'LIST');
    return readPage(answer.text, this.#requests.host);
  }

  #refusal(answer: Parameters<typeof s3Refusal>[0], what: string): StoreError {
    return s3Refusal(answer, { host: this.#requests.host, what });
  }
}

/** Names consist of ASCII, whose characters have the order of their bytes. */
function byCharacters(one: string, other: string): number {
  return one < other ? -1 : 1;
}
