/**
 * Evaluates the certificate that a TLS server shows for a name, as a browser would. The server is usually this machine,
 * behind a proxy, so its addresses are not limited to those of others.
 */
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, TimeoutError } from './clock.ts';
import type { Dns, DnsAnswer } from './dns.ts';
import { errorCode, errorMessage } from './errors.ts';

type TlsTarget = {
  /** Name for SNI, which the certificate must contain. */
  name: string;
  /** Name whose addresses are connected to. Never one that a tenant chose: its addresses are not checked. */
  server: string;
  port: number;
};

type TlsState =
  | { kind: 'valid' }
  /** The server showed a certificate that browsers refuse. */
  | { kind: 'invalid'; reason: string }
  /** No certificate was seen. */
  | { kind: 'unreachable'; reason: string };

/** Returns what the server shows. It never rejects. */
export type TlsProbe = (target: TlsTarget) => Promise<TlsState>;

/** Maximum time of the connection and the handshake, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Returns the probe of a system. It trusts the authorities that Node trusts, or only those that are given in PEM. */
export function createTlsProbe(
  { clock, dns }: { clock: Clock; dns: Pick<Dns, 'fresh'> },
  certificateAuthorities?: string,
): TlsProbe {
  const trust = certificateAuthorities === undefined ? {} : { ca: certificateAuthorities };
  return async ({ name, server, port }) => {
    const answers = await Promise.all([dns.fresh.a(server), dns.fresh.aaaa(server)]);
    const [address] = answers.flatMap((answer: DnsAnswer<string>) =>
      answer.kind === 'found' ? answer.records : [],
    );
    if (address === undefined) return { kind: 'unreachable', reason: `${server} has no address` };
    return new Promise((resolve) => {
      const socket = connect({ host: address, port });
      const secure = connectTls({ socket, servername: name, rejectUnauthorized: false, ...trust });
      const timer = clock.after(TIMEOUT_MS, () =>
        socket.destroy(new TimeoutError(`no answer within ${TIMEOUT_MS} ms`)),
      );
      const end = (state: TlsState) => {
        timer.cancel();
        secure.destroy();
        socket.destroy();
        resolve(state);
      };
      const fail = (error: Error) =>
        end({ kind: 'unreachable', reason: errorMessage(error) || (errorCode(error) ?? 'no connection') });
      socket.on('error', fail);
      secure.on('error', fail);
      secure.once('close', () => end({ kind: 'unreachable', reason: 'the connection was closed' }));
      secure.once('secureConnect', () => {
        if (secure.authorized) return end({ kind: 'valid' });
        // Node's types call it an error, but it is usually the code of one.
        const { authorizationError } = secure;
        end({ kind: 'invalid', reason: String(errorCode(authorizationError) ?? authorizationError) });
      });
    });
  };
}
