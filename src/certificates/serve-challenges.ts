/**
 * Answers challenges of an authority on the plain listener, where a proxy of the operator has port 80 and passes them on (RFC 8555
 * section 8.3). Only a name and a token that an order waits for have an answer, and it is no secret: it goes to whoever asks.
 */
import type { FastifyInstance } from 'fastify';
import { hostNameOf } from '../http/transport/host-names.ts';
import { notFound } from '../system/errors.ts';
import { type ChallengeConfig, isBehindProxy, type OfferedChallenges } from './acme/challenges.ts';

/** Adds the route to the server of the API. Without a proxy, port 80 is ours and has the answers, so nothing is added. */
export function serveChallenges(
  server: FastifyInstance,
  config: ChallengeConfig,
  challenges: Pick<OfferedChallenges, 'answerHttp'>,
): void {
  if (!isBehindProxy(config)) return;
  server.get<{ Params: { token: string } }>(
    '/.well-known/acme-challenge/:token',
    { schema: { hide: true } },
    async ({ headers: { host = '' }, params: { token } }, reply) => {
      const answer = challenges.answerHttp(hostNameOf(host), token);
      if (answer === undefined) throw notFound('Challenge');
      return reply.type('application/octet-stream').send(answer);
    },
  );
}
