/**
 * Signed requests to one bucket (AWS Signature Version 4). The hash of the body is part of the signature, so a server refuses bytes that were
 * cut off or changed on the way. Newer checksum headers are not sent, since some servers refuse a request that has them.
 */
import { createHash } from 'node:crypto';
import type { System } from '../system/system.ts';
import { hashBody, partsOfBody, sizeOfBody } from './body.ts';
import type { ObjectBody } from './object-store.ts';
import {
  createServerRequests,
  type ServerOptions,
  type ServerRequest,
  type ServerRequests,
  type SmallAnswer,
} from './server-requests.ts';

export type S3Options = ServerOptions & {
  /** URL of the server, without a path: `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  bucket: string;
  /** Begins every key; empty, or names with a slash after each. */
  prefix: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** The session token of temporary credentials. */
  sessionToken?: string | undefined;
  /** The place of the bucket: in the path (`https://host/bucket/key`), or before the host (`https://bucket.host/key`). */
  addressing: 'path' | 'host';
};

type Question = {
  method: ServerRequest['method'];
  /** Key of an object below the prefix; empty for the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
};

const EMPTY_SHA256 = createHash('sha256').digest('hex');

export class S3Requests {
  /** Host and port, for messages. */
  readonly host: string;
  readonly #clock: System['clock'];
  readonly #options: S3Options;
  readonly #base: string;
  readonly #requests: ServerRequests;
  /** Keys for signing, which are valid for a day each. */
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(system: Pick<System, 'clock' | 'dns'>, options: S3Options) {
    const server = new URL(options.endpoint);
    if (options.addressing === 'host') server.host = `${options.bucket}.${server.host}`;
    this.#clock = system.clock;
    this.#options = options;
    this.#base = options.addressing === 'host' ? server.origin : `${server.origin}/${options.bucket}`;
    this.host = server.host;
    this.#requests = createServerRequests(system, server, options);
  }

  /**
   * Makes a request without a body.
   * @throws StoreError
   */
  async ask(question: Question, maxBytes?: number): Promise<SmallAnswer> {
    return await this.#requests.ask(await this.#sign(question, EMPTY_SHA256), maxBytes);
  }

  /**
   * Returns an object as it arrives, or the answer when it is another than 200.
   * @throws StoreError
   */
  async fetchObject(key: string): Promise<AsyncIterable<Uint8Array> | SmallAnswer> {
    return await this.#requests.fetchObject(await this.#sign({ method: 'GET', key }, EMPTY_SHA256));
  }

  /**
   * Uploads an object in one request.
   * @throws StoreError
   */
  async upload(key: string, body: ObjectBody, headers: Record<string, string> = {}): Promise<SmallAnswer> {
    const size = sizeOfBody(body);
    const [sha256, md5] = await hashBody(body, ['sha256', 'md5']);
    const question: Question = {
      method: 'PUT',
      key,
      headers: {
        ...headers,
        'content-length': String(size),
        'content-type': 'application/octet-stream',
        'content-md5': md5?.toString('base64') ?? '',
      },
    };
    const signed = await this.#sign(question, sha256?.toString('hex') ?? '');
    return await this.#requests.ask({ ...signed, body: partsOfBody(body) });
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  async #sign({ method, key, query, headers = {} }: Question, sha256: string): Promise<ServerRequest> {
    // This import is deferred because most installations have no bucket.
    const { AwsV4Signer } = await import('aws4fetch');
    const { accessKeyId, secretAccessKey, sessionToken, region, prefix } = this.#options;
    const path = key === undefined ? '' : `/${prefix}${key}`;
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const signer = new AwsV4Signer({
      method,
      url: `${this.#base}${path}${search}`,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region,
      datetime: amzDate(this.#clock.now()),
      cache: this.#signingKeys,
    });
    if (this.#signingKeys.size > MAX_SIGNING_KEYS) this.#signingKeys.clear();
    const signed = await signer.sign();
    return { method, url: signed.url.href, headers: Object.fromEntries(signed.headers) };
  }
}

/** There is one for each day. */
const MAX_SIGNING_KEYS = 4;

/** Returns a time as signatures spell it: `20261130T155301Z`. */
function amzDate(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
}
