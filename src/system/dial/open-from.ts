/** Opens connections from a source. A failure of the source is a `SourceError`; any other error is about the host. */
import { isIP, type Socket } from 'node:net';
import { RefusedTargetError } from '../blocklist.ts';
import { type Clock, TimeoutError } from '../clock.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { type Opening, openSocket } from './open-socket.ts';
import { proxyHeader } from './proxy-header.ts';
import { connectBySocks } from './socks.ts';
import { addressOctets, type DialSource, type ProxyEndpoint } from './source.ts';
import { SourceError } from './source-failure.ts';

type Host = Omit<Opening, 'localAddress'>;

/** Opens a connection to a host that the guard has allowed. `timeoutMs` is the time for the proxy and the host together. */
export function openFrom(clock: Clock, source: DialSource, host: Host): Promise<Socket> {
  switch (source.kind) {
    case 'address':
      return openFromAddress(clock, source.address, host);
    case 'proxy-protocol':
      return openByHeader(clock, source, host);
    case 'socks5':
      return openBySocks(clock, source, host);
  }
}

/** The kernel refuses to bind an address that this machine does not have. */
async function openFromAddress(clock: Clock, localAddress: string, host: Host): Promise<Socket> {
  if (addressOctets(localAddress).length !== addressOctets(host.address).length)
    throw new SourceError(
      'refused',
      'the address of the source and that of the host are of different families',
    );
  try {
    return await openSocket(clock, { ...host, localAddress });
  } catch (error) {
    if (errorCode(error) !== 'EADDRNOTAVAIL') throw error;
    throw new SourceError('unusable', 'this machine does not have the address of the source', error);
  }
}

/** A proxy that cannot reach the host closes the connection, which looks like a host that does so before its greeting. */
async function openByHeader(
  clock: Clock,
  { proxy, address }: Extract<DialSource, { kind: 'proxy-protocol' }>,
  host: Host,
): Promise<Socket> {
  const header = proxyHeader(address, host);
  const socket = await openProxy(clock, proxy, host);
  socket.write(header);
  return socket;
}

async function openBySocks(
  clock: Clock,
  { proxy, login }: Extract<DialSource, { kind: 'socks5' }>,
  host: Host,
): Promise<Socket> {
  const deadline = clock.elapsed() + host.timeoutMs;
  const socket = await openProxy(clock, proxy, host);
  const timer = clock.after(deadline - clock.elapsed(), () =>
    socket.destroy(new TimeoutError(`connect took longer than ${host.timeoutMs} ms`)),
  );
  try {
    await connectBySocks(socket, { ...host, login });
    return socket;
  } catch (error) {
    socket.destroy();
    host.signal?.throwIfAborted();
    throw error;
  } finally {
    timer.cancel();
  }
}

/** Connects to a proxy. @throws SourceError, or the reason of the signal */
export async function openProxy(
  clock: Clock,
  proxy: ProxyEndpoint,
  { timeoutMs, signal }: Pick<Host, 'timeoutMs' | 'signal'>,
): Promise<Socket> {
  if (isIP(proxy.address) === 0) throw new RefusedTargetError('the proxy');
  try {
    return await openSocket(clock, { ...proxy, timeoutMs, signal });
  } catch (error) {
    signal?.throwIfAborted();
    // Senders see this text, and the message of the error may have the address of the proxy.
    const why = errorCode(error) ?? errorMessage(error);
    throw new SourceError('unusable', `the proxy cannot be reached (${why})`, error);
  }
}
