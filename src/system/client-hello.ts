/**
 * Reads what a TLS client asks for before the handshake begins: the name of the server (SNI, RFC 6066 section 3), and protocols (ALPN, RFC
 * 7301). Node's own callback can answer with one certificate alone, and the context chosen here has one for each type of key.
 */
import type { Socket } from 'node:net';

export type ClientHello = {
  /** Empty when the client names no server. */
  serverName: string;
  /** Names of the protocols that the client offers, none without ALPN. */
  protocols: readonly string[];
};

const NOTHING: ClientHello = { serverName: '', protocols: [] };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const PROTOCOLS = 16;
const HOST_NAME = 0;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
const RANDOM_BYTES = 32;
/** Maximum number of bytes that are read in search of the end of the hello. Hellos of today have at most 2 KB. */
const MAX_BYTES = 16_384;

/**
 * Returns what the first bytes of a connection ask for: nothing when the client does not begin with TLS. The bytes are left for the
 * handshake.
 * @throws the error of the socket, or an Error when it ends before the end of the hello
 */
export function awaitClientHello(socket: Socket): Promise<ClientHello> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const read = (): void => {
      const more: Buffer | null = socket.read();
      if (more === null) return;
      bytes = Buffer.concat([bytes, more]);
      const hello = findClientHello(bytes);
      if (hello === undefined) return;
      stop();
      socket.unshift(bytes);
      resolve(hello);
    };
    const fail = (): void => {
      stop();
      socket.destroy();
      reject(socket.errored ?? new Error('the connection closed during the TLS handshake'));
    };
    const stop = (): void => {
      socket.off('readable', read).off('end', fail).off('close', fail);
    };
    if (socket.destroyed) return fail();
    socket.on('readable', read).once('end', fail).once('close', fail);
  });
}

/** Returns what a client hello asks for, nothing when the bytes are none; undefined when more bytes are needed. */
export function findClientHello(bytes: Buffer): ClientHello | undefined {
  const message = joinRecords(bytes);
  if (message === undefined || (message.length > 0 && message[0] !== CLIENT_HELLO)) return NOTHING;
  if (message.length >= MESSAGE_HEADER_BYTES) {
    const hello = message.subarray(MESSAGE_HEADER_BYTES);
    const helloBytes = message.readUIntBE(1, 3);
    if (hello.length >= helloBytes) return readHello(hello.subarray(0, helloBytes));
  }
  return bytes.length < MAX_BYTES ? undefined : NOTHING;
}

/**
 * Returns what has arrived of the first handshake message, which may be spread over several records (RFC 8446 section
 * 5.1); undefined when the bytes are no handshake.
 */
function joinRecords(bytes: Buffer): Buffer | undefined {
  const fragments: Buffer[] = [];
  let offset = 0;
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE) return undefined;
  while (bytes[offset] === HANDSHAKE) {
    if (bytes.length - offset < RECORD_HEADER_BYTES) break;
    const begin = offset + RECORD_HEADER_BYTES;
    offset = begin + bytes.readUInt16BE(begin - 2);
    fragments.push(bytes.subarray(begin, offset));
  }
  return Buffer.concat(fragments);
}

/** Reads a whole hello (RFC 8446 section 4.1.2). The handshake itself refuses a malformed one. */
function readHello(hello: Buffer): ClientHello {
  const fields = new Fields(hello);
  fields.skip(2 + RANDOM_BYTES);
  for (const lengthBytes of [1, 2, 1]) fields.vector(lengthBytes);
  const extensions = new Fields(fields.vector(2));
  const asked = { ...NOTHING };
  while (extensions.hasMore) {
    const type = extensions.number(2);
    const data = extensions.vector(2);
    if (type === SERVER_NAME) asked.serverName ||= readHostName(data);
    if (type === PROTOCOLS) asked.protocols = readProtocols(data);
  }
  return asked;
}

function readProtocols(data: Buffer): string[] {
  const names: string[] = [];
  const list = new Fields(new Fields(data).vector(2));
  while (list.hasMore) names.push(list.vector(1).toString('latin1'));
  return names;
}

function readHostName(data: Buffer): string {
  const names = new Fields(new Fields(data).vector(2));
  while (names.hasMore) {
    const type = names.number(1);
    const name = names.vector(2);
    if (type === HOST_NAME) return name.toString('latin1');
  }
  return '';
}

/** Fields of a TLS structure, one after the other. A field beyond the end is empty or 0. */
class Fields {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#offset < this.#bytes.length;
  }

  skip(bytes: number): Buffer {
    const begin = this.#offset;
    this.#offset += bytes;
    return this.#bytes.subarray(begin, this.#offset);
  }

  number(bytes: number): number {
    return this.skip(bytes).reduce((sum, byte) => sum * 256 + byte, 0);
  }

  /** Returns the bytes of a field that begins with its length. */
  vector(lengthBytes: number): Buffer {
    return this.skip(this.number(lengthBytes));
  }
}
