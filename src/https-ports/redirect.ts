/**
 * The server without TLS beside HTTPS (port 80). It answers the challenges of certificate authorities (RFC 8555 section 8.3) and leads
 * everything else to the same host with TLS. Nothing secret is taken here: a request with credentials is refused, so that its sender notices
 * and does not send them in plaintext again and again.
 */
import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { findServedName } from '../host-names/served-names.ts';
import { chargeAddress } from '../http/transport/address-limit.ts';
import { discardBody } from '../http/transport/body.ts';
import { hostNameOf } from '../http/transport/host-names.ts';
import { createTransport, type HttpServer } from '../http/transport/server.ts';
import { sendTextError } from '../http/transport/text-error.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { ChallengeAnswers } from './challenge-handshake.ts';

type RedirectApp = Pick<App, 'clock' | 'config' | 'db' | 'guards' | 'log' | 'metrics'>;

type RedirectOptions = {
  challenges: Pick<ChallengeAnswers, 'answerHttp'>;
  /** Returns the port of HTTPS; undefined while it does not listen. */
  httpsPort(): number | undefined;
};

const CHALLENGE_PATH = /^\/\.well-known\/acme-challenge\/(?<token>[A-Za-z0-9_-]{1,256})$/;
/** Permanent, and with the same method, so that a POST stays one (RFC 9110 section 15.4.9). */
const REDIRECT = 308;
const HTTPS_PORT = 443;

/** Creates the server, which does not listen yet. */
export function createRedirectServer(app: RedirectApp, options: RedirectOptions): HttpServer {
  const server = createTransport(
    app,
    {
      maxBodyBytes: 1,
      sendError: (error, reply) => sendTextError(app, error, { reply, mediaType: 'nothing' }),
    },
    { metrics: app.metrics, bodies: app.guards.memory.pages },
  );
  // A hook and no route: the answer depends on neither the method nor the body.
  server.addHook('onRequest', async (request, reply) => {
    chargeAddress(app.guards.visitors, request);
    const answer = await findAnswer(app, { request, ...options });
    discardBody(request, reply);
    return reply.code(answer.status).headers(answer.headers).send(answer.text);
  });
  return server;
}

type Answer = { status: number; headers: Readonly<Record<string, string>>; text?: string };

/** @throws AppError */
async function findAnswer(
  { db, config, clock }: RedirectApp,
  { request, challenges, httpsPort }: RedirectOptions & { request: FastifyRequest },
): Promise<Answer> {
  const { authorization, host = '' } = request.headers;
  if (authorization !== undefined)
    throw new AppError('restricted_api_key', 'Credentials are accepted with HTTPS alone; replace this key');
  const name = hostNameOf(host);
  const [path = ''] = request.url.split('?', 1);
  const token = CHALLENGE_PATH.exec(path)?.groups?.['token'];
  if (token !== undefined) return challengeAnswer(challenges.answerHttp(name, token));
  const served = await findServedName(db.read, name, { config, now: clock.now() });
  if (!served || !path.startsWith('/')) return MISDIRECTED;
  const port = httpsPort();
  if (port === undefined) throw new AppError('unavailable', 'HTTPS is not ready yet; try again shortly');
  const origin = `https://${name}${port === HTTPS_PORT ? '' : `:${port}`}`;
  return { status: REDIRECT, headers: { location: `${origin}${request.url}` } };
}

/** The answer for a host that is not served here. Nobody is led anywhere by a name that the request itself has brought. */
const MISDIRECTED: Answer = {
  status: 421,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  text: 'Nothing is served here\n',
};

/** @throws AppError not_found */
function challengeAnswer(text: string | undefined): Answer {
  if (text === undefined) throw notFound('Challenge');
  return { status: 200, headers: { 'content-type': 'application/octet-stream' }, text };
}
