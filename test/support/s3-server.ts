/**
 * A small S3 server for tests: one bucket in memory, with PUT, GET, DELETE and ListObjectsV2. It computes each signature by itself (AWS
 * Signature Version 4), compares bodies with their hashes, and makes faults.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { listenOnLoopback } from './loopback.ts';

export type S3Fault =
  /** Status 500, 503 or any other, with this code. */
  | { status: number; code: string }
  /** No answer at all. */
  | 'silent'
  /** Half of the body that was announced, and then nothing more. */
  | 'stalled'
  /** Half of the body that was announced, and then the end of the connection. */
  | 'truncated'
  /** The connection ends before anything is done, or after it is done. */
  | 'dropped'
  | 'dropped-after';

export type S3Server = {
  /** `http://127.0.0.1:port`. */
  endpoint: string;
  port: number;
  /** By key. */
  objects: Map<string, Buffer>;
  /** Keys that are not listed yet. */
  unlisted: Set<string>;
  /** `known`, `ignored`, or `refused` with 501. */
  conditions: 'known' | 'ignored' | 'refused';
  /** Faults of the next requests, one each; undefined stands for none. */
  faults: (S3Fault | undefined)[];
  /** Maximum number of keys in a page. */
  pageSize: number;
  /** Method and target of each request. */
  requests: string[];
  /** Wall clock, which signatures are compared with. */
  now: () => number;
};

export const S3_ACCESS = {
  bucket: 'standby',
  region: 'eu-test-1',
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'secret/with+signs=',
};

/** Maximum difference of the clocks, as in S3. */
const MAX_SKEW_MS = 15 * 60_000;

class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/** Starts a server on loopback, which ends with the test. */
export async function startS3Server(context: TestContext, bucket = S3_ACCESS.bucket): Promise<S3Server> {
  const state: S3Server = {
    endpoint: '',
    port: 0,
    objects: new Map(),
    unlisted: new Set(),
    conditions: 'known',
    faults: [],
    pageSize: 1_000,
    requests: [],
    now: Date.now,
  };
  const server = createServer((request, response) => {
    request.on('error', () => {});
    answer(state, bucket, request, response).catch((error: unknown) => {
      if (!(error instanceof S3Error)) throw error;
      sendError(response, error);
    });
  });
  state.port = await listenOnLoopback(server);
  state.endpoint = `http://127.0.0.1:${state.port}`;
  context.after(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return state;
}

async function answer(
  state: S3Server,
  bucket: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request;
  state.requests.push(`${method} ${url}`);
  const fault = state.faults.shift();
  if (fault === 'silent') return;
  if (fault === 'dropped') return void request.socket.destroy();
  const body = Buffer.concat(await request.toArray());
  if (typeof fault === 'object') throw new S3Error(fault.status, fault.code);
  verifySignature(state, request, body);
  const { pathname, searchParams } = new URL(url, 'http://host');
  const isVirtual = request.headers.host?.startsWith(`${bucket}.`) === true;
  const [named = '', ...key] = (isVirtual ? `/${bucket}${pathname}` : pathname).split('/').slice(1);
  if (named !== bucket) throw new S3Error(404, 'NoSuchBucket');
  const path = decodeURIComponent(key.join('/'));
  const sent = method === 'GET' ? read(state, path, searchParams) : write(state, path, request, body);
  if (fault === 'dropped-after') return void request.socket.destroy();
  response.writeHead(sent.status, { 'content-length': String(sent.body.length) });
  if (fault !== 'truncated' && fault !== 'stalled') return void response.end(sent.body);
  response.write(sent.body.subarray(0, Math.floor(sent.body.length / 2)), () => {
    if (fault === 'truncated') response.destroy();
  });
}

type Sent = { status: number; body: Buffer };

function read(state: S3Server, key: string, query: URLSearchParams): Sent {
  if (key === '') return { status: 200, body: Buffer.from(list(state, query)) };
  const body = state.objects.get(key);
  if (!body) throw new S3Error(404, 'NoSuchKey');
  return { status: 200, body };
}

function write(state: S3Server, key: string, { method, headers }: IncomingMessage, body: Buffer): Sent {
  const none = Buffer.alloc(0);
  if (method === 'DELETE') {
    state.objects.delete(key);
    return { status: 204, body: none };
  }
  if (Number(headers['content-length']) !== body.length) throw new S3Error(400, 'IncompleteBody');
  if (headers['content-md5'] !== createHash('md5').update(body).digest('base64'))
    throw new S3Error(400, 'BadDigest');
  if (headers['if-none-match'] !== undefined && state.conditions === 'refused')
    throw new S3Error(501, 'NotImplemented');
  const isConditional = headers['if-none-match'] === '*' && state.conditions === 'known';
  if (isConditional && state.objects.has(key)) throw new S3Error(412, 'PreconditionFailed');
  state.objects.set(key, body);
  return { status: 200, body: none };
}

function list(state: S3Server, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const keys = [...state.objects.keys()]
    .filter((key) => !state.unlisted.has(key) && key.startsWith(prefix) && key > after)
    .sort((one, other) => (one < other ? -1 : 1));
  const page = keys.slice(0, Math.min(state.pageSize, Number(query.get('max-keys') ?? 1_000)));
  const isTruncated = page.length < keys.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>bucket</Name><Prefix>${escapeXml(prefix)}</Prefix><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>` : '',
    ...page.map((key) => `<Contents><Key>${escapeXml(key)}</Key><Size>1</Size></Contents>`),
    '</ListBucketResult>',
  ].join('\n');
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function sendError(response: ServerResponse, { status, code }: S3Error): void {
  const text = `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>Says &lt;${code}&gt;</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(text);
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** Signature of a request, by the text of AWS ("Signature Version 4 signing process"). */
function verifySignature(state: S3Server, request: IncomingMessage, body: Buffer): void {
  const { method = '', url = '', headers } = request;
  const found = AUTHORIZATION.exec(headers.authorization ?? '');
  if (!found) throw new S3Error(403, 'AccessDenied');
  const [, keyId, day = '', region = '', signedHeaders = '', signature] = found;
  if (keyId !== S3_ACCESS.accessKeyId) throw new S3Error(403, 'InvalidAccessKeyId');
  if (region !== S3_ACCESS.region) throw new S3Error(400, 'AuthorizationHeaderMalformed');
  const time = String(headers['x-amz-date']);
  const spelled = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  if (!(Math.abs(Date.parse(spelled) - state.now()) <= MAX_SKEW_MS) || !time.startsWith(day))
    throw new S3Error(403, 'RequestTimeTooSkewed');
  const names = signedHeaders.split(';');
  for (const name of ['host', 'x-amz-date', 'x-amz-content-sha256'])
    if (!names.includes(name)) throw new S3Error(403, 'AccessDenied');
  const [path = '', query = ''] = url.split('?');
  const payload = String(headers['x-amz-content-sha256']);
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedHeaders,
    payload,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${S3_ACCESS.secretAccessKey}`,
  );
  if (createHmac('sha256', key).update(toSign).digest('hex') !== signature)
    throw new S3Error(403, 'SignatureDoesNotMatch');
  if (sha256(body) !== payload) throw new S3Error(400, 'XAmzContentSHA256Mismatch');
}

function canonicalQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map((pair) => pair.map(encodeStrictly).join('='))
    .sort()
    .join('&');
}

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
