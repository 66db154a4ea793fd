/**
 * The HTTP server of a receiving host. Each request has the bearer token:
 * - `PUT /objects/<installation>/<name>` with `Content-Length` and `Content-Digest: sha-256=:…:` (RFC 9530) stores an object: 204 once it is on
 *   disk. With `If-None-Match: *`, a name that exists is 412.
 * - `GET /objects/<installation>/<name>` returns it; 404 when there is none. `DELETE` removes it, 204 also when there is none.
 * - `GET /objects?prefix=…&after=…` lists names: `{ "names": [] }`, at most 1,000, in the order of their bytes.
 *
 * Bodies go to the disk as they arrive. All that is stored is encrypted before it comes here, and nothing here can read it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { FolderStore } from '../../objects/folder-store.ts';
import { isObjectName, isObjectPrefix, MAX_OBJECT_BYTES, StoreError } from '../../objects/object-store.ts';
import { DiskSpace } from '../../system/disk-space.ts';
import { errorCode } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';

type ObjectServerOptions = {
  /** Folder of the objects, which exists. */
  folder: string;
  /** Returns the tokens, of which each allows everything. */
  tokens: () => readonly string[];
  /** Free space below which nothing is stored; at most a tenth of the disk. */
  reserveBytes: number;
};

type ServerSystem = Pick<System, 'clock' | 'log' | 'statDisk'>;

/** Maximum time for one request: an object of the maximum size at 0.5 Mbit/s, in milliseconds. */
const REQUEST_MS = 600_000;
/** Maximum time without any byte on a connection, in milliseconds. */
const IDLE_MS = 60_000;

/** Answers a request with a status alone. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** Returns a server that does not listen yet. */
export function createObjectServer(system: ServerSystem, options: ObjectServerOptions): Server {
  const store = new FolderStore(system, options.folder);
  const disk = new DiskSpace(system, options.folder, options.reserveBytes);
  const isAllowed = createTokenCheck(options.tokens);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAllowed(request.headers.authorization)) throw new Refusal(401);
    const { method, url = '' } = request;
    const { pathname, searchParams } = new URL(url, 'https://host');
    if (pathname === '/objects' && method === 'GET') return await list(searchParams, response);
    const name = readName(url);
    if (method === 'GET') return await send(name, response);
    if (method === 'DELETE') await store.remove(name);
    else if (method === 'PUT') await receive(name, request);
    else throw new Refusal(405);
    response.writeHead(204).end();
  }

  async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('after') ?? ''];
    if (!isObjectPrefix(prefix) || !isObjectPrefix(after)) throw new Refusal(400);
    const names = await store.list(prefix, after);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ names }));
  }

  async function send(name: string, response: ServerResponse): Promise<void> {
    const found = await store.open(name);
    if (!found) throw new Refusal(404);
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': String(found.sizeBytes),
    });
    await pipeline(found.parts, response);
  }

  async function receive(name: string, request: IncomingMessage): Promise<void> {
    const size = readLength(request);
    const digest = readDigest(request);
    await disk.check();
    if (disk.isBelowReserve || (disk.freeBytes ?? size) < size) throw new Refusal(FULL_STATUS);
    const onlyNew = request.headers['if-none-match'] === '*';
    const isStored = await store.receive(name, checked(request, size, digest), { onlyNew });
    if (!isStored) throw new Refusal(412);
  }

  function report({ method }: IncomingMessage, status: number, error: unknown): void {
    if (status === FULL_STATUS)
      system.log.warn({ method }, 'the disk is full, or below its reserve: nothing is stored');
    else if (status >= 500) system.log.warn({ method, err: error }, 'an object was refused');
  }

  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    // A client that leaves while it is answered has no answer.
    response.on('error', () => {});
    answer(request, response).catch((error: unknown) => {
      const status = statusOf(error);
      report(request, status, error);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, isTooLong(request) ? { connection: 'close' } : {}).end();
    });
  });
  server.setTimeout(IDLE_MS);
  return server;
}

/** Returns the check of the header `Authorization`, which takes the same time for every token of the same length. */
function createTokenCheck(tokens: () => readonly string[]): (header: string | undefined) => boolean {
  return (header = '') => {
    const given = digestOf(/^Bearer (.+)$/i.exec(header)?.[1] ?? '');
    // Every token is compared, so that the time does not tell which one is similar.
    return tokens()
      .map(digestOf)
      .map((digest) => timingSafeEqual(digest, given))
      .includes(true);
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Returns the name of the object in a target, in which nothing is encoded and which begins with an installation.
 * @throws Refusal
 */
function readName(target: string): string {
  const name = target.replace(/^\/objects\//, '');
  if (name === target) throw new Refusal(404);
  if (!isObjectName(name) || !name.includes('/')) throw new Refusal(400);
  return name;
}

function readLength({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  if (length === undefined) throw new Refusal(411);
  if (Number(length) > MAX_OBJECT_BYTES) throw new Refusal(413);
  return Number(length);
}

/**
 * Returns true for a request that is refused before its body has arrived, whose client therefore may not see why. The body of any other is
 * read to its end, so that the client sees the answer.
 */
function isTooLong({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_OBJECT_BYTES
  );
}

/** Matches the hash of a body (RFC 9530 section 2). */
const DIGEST = /(?:^|,\s*)sha-256=:([A-Za-z0-9+/]{43}=):/;

function readDigest({ headers }: IncomingMessage): Buffer {
  const [, digest] = DIGEST.exec([headers['content-digest']].flat().join()) ?? [];
  if (digest === undefined) throw new Refusal(400);
  return Buffer.from(digest, 'base64');
}

/** The parts of a body. They fail at their end unless they are the bytes that were announced, so that nothing else is stored. */
async function* checked(
  request: AsyncIterable<Buffer>,
  size: number,
  digest: Buffer,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of request) {
    hash.update(part);
    bytes += part.length;
    yield part;
  }
  if (bytes !== size || !hash.digest().equals(digest)) throw new Refusal(400);
}

/** Insufficient Storage (RFC 4918 section 11.5). */
const FULL_STATUS = 507;
const FULL: readonly string[] = ['ENOSPC', 'EDQUOT'];

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  if (!(error instanceof StoreError)) return 500;
  if (FULL.includes(errorCode(error.cause) ?? '')) return FULL_STATUS;
  return error.kind === 'unreachable' ? 503 : 500;
}
