/**
 * Asks a SOCKS5 server for a connection (RFC 1928, with the login of RFC 1929) over an open socket. Afterwards the socket is that
 * of the host, and what the host has sent already is still in it. The caller limits the time by destroying the socket.
 */
import type { Socket } from 'node:net';
import { TimeoutError } from '../clock.ts';
import { readExactly } from './read-exactly.ts';
import { addressOctets, type SocksLogin } from './source.ts';
import { SourceError } from './source-failure.ts';

const VERSION = 5;
const LOGIN_VERSION = 1;
const NO_LOGIN = 0;
const BY_PASSWORD = 2;
const CONNECT = 1;
/** Types of addresses, by which the length of an address is known; the length of a name is its first octet. */
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const PORT_OCTETS = 2;

/** Replies that are about the host (RFC 1928 section 6), and the error of connect(2) that each stands for. */
const HOST_ERRORS: Readonly<Record<number, string>> = {
  3: 'ENETUNREACH',
  4: 'EHOSTUNREACH',
  5: 'ECONNREFUSED',
  6: 'ETIMEDOUT',
};
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'its rules do not allow the connection',
  7: 'it does not know the command',
  8: 'it does not know the type of address',
};

type SocksRequest = { address: string; port: number; login: SocksLogin | null };

/**
 * Resolves when the server is connected to the host.
 * @throws SourceError about the server; an error with the code of connect(2), or TimeoutError, about the host
 */
export async function connectBySocks(socket: Socket, request: SocksRequest): Promise<void> {
  await agreeOnMethod(socket, request.login);
  socket.write(connectRequest(request));
  const code = await readReply(socket);
  if (code === 0) return;
  const hostError = HOST_ERRORS[code];
  if (hostError !== undefined)
    throw Object.assign(new Error('the SOCKS server could not reach the host'), { code: hostError });
  throw new SourceError('refused', `the SOCKS server refused: ${REFUSALS[code] ?? `reply ${code}`}`);
}

/** Agrees on a method with the server, and logs in. */
export async function agreeOnMethod(socket: Socket, login: SocksLogin | null): Promise<void> {
  const method = login ? BY_PASSWORD : NO_LOGIN;
  socket.write(Buffer.from([VERSION, 1, method]));
  const [version, chosen] = await read(socket, 2, 'unusable');
  if (version !== VERSION) throw notSocks();
  if (chosen !== method)
    throw new SourceError(
      'unusable',
      `the SOCKS server takes no client ${login ? 'with' : 'without'} a login`,
    );
  if (login) await logIn(socket, login);
  // The server speaks only when it is asked. What it sent beyond its answer would be read as the next one.
  if (socket.readableLength > 0) throw notSocks();
}

async function logIn(socket: Socket, { user, password }: SocksLogin): Promise<void> {
  socket.write(Buffer.concat([Buffer.from([LOGIN_VERSION]), withLength(user), withLength(password)]));
  const [version, status] = await read(socket, 2, 'unusable');
  if (version !== LOGIN_VERSION) throw notSocks();
  if (status !== 0) throw new SourceError('unusable', 'the SOCKS server refused the login');
}

function withLength(text: string): Buffer {
  const octets = Buffer.from(text);
  return Buffer.concat([Buffer.from([octets.length]), octets]);
}

function connectRequest({ address, port }: SocksRequest): Buffer {
  const octets = addressOctets(address);
  const request = Buffer.concat([
    Buffer.from([VERSION, CONNECT, 0, octets.length === 4 ? IPV4 : IPV6]),
    octets,
    Buffer.alloc(PORT_OCTETS),
  ]);
  request.writeUInt16BE(port, request.length - PORT_OCTETS);
  return request;
}

/** Reads the reply, and returns its code. The address in it is that of the server, which nothing here needs. */
async function readReply(socket: Socket): Promise<number> {
  const [version, code = 0, reserved, type] = await read(socket, 4, 'refused');
  if (version !== VERSION || reserved !== 0) throw notSocks();
  const length = type === IPV4 ? 4 : type === IPV6 ? 16 : undefined;
  if (length !== undefined) await read(socket, length + PORT_OCTETS, 'refused');
  else if (type === NAME) await readName(socket);
  else throw notSocks();
  return code;
}

async function readName(socket: Socket): Promise<void> {
  const [length = 0] = await read(socket, 1, 'refused');
  await read(socket, length + PORT_OCTETS, 'refused');
}

async function read(socket: Socket, octets: number, fault: 'unusable' | 'refused'): Promise<Buffer> {
  try {
    return await readExactly(socket, octets);
  } catch (error) {
    // A server that has agreed on a method and taken a request is waiting for the host.
    if (fault === 'refused' && error instanceof TimeoutError) throw error;
    throw new SourceError(fault, `the SOCKS server did not answer: ${(error as Error).message}`, error);
  }
}

function notSocks(): SourceError {
  return new SourceError('unusable', 'the proxy does not speak SOCKS5');
}
