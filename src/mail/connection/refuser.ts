/**
 * Tells clients beyond the limits why their connections are closed. Where connections begin with TLS, a client can read the reason only after
 * a handshake, which costs the server more than the client: a few of them are affordable, and other connections are closed without a word.
 */
import { type AcceptTlsOptions, acceptTls } from '../../system/accept-tls.ts';
import type { Clock } from '../../system/clock.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { type Refuse, refusePlainly } from '../../system/listen.ts';

/** Maximum rate of the handshakes of a listener that are for refusals alone: each takes about a millisecond of a core. */
const REFUSAL_HANDSHAKES = { tokensPerSecond: 10, burst: 10 };
/** Time for each of the two steps of such a handshake. */
const HANDSHAKE_MS = 5_000;

/** Returns a function that sends a last text and closes the connection. @param tls set where connections begin with TLS */
export function createRefuser(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  tls: Omit<AcceptTlsOptions, 'timeoutMs'> | undefined,
): Refuse {
  if (!tls) return refusePlainly;
  const handshakes = createTokenBuckets(clock, 1);
  return (socket, text) => {
    if (!handshakes.take('', REFUSAL_HANDSHAKES).allowed) return void socket.destroy();
    acceptTls(clock, socket, { ...tls, timeoutMs: HANDSHAKE_MS }).then(
      (secure) => refusePlainly(secure, text),
      // A failed handshake has closed the connection.
      () => {},
    );
  };
}
