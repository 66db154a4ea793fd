/** Errors as one line of text, for apps whose callers are neither browsers nor programs of the API. */
import type { FastifyReply } from 'fastify';
import type { Log } from '../../system/log.ts';
import { asTransportRefusal, startRefusal } from './refusal.ts';

/** Sends an error. `mediaType` is what bodies are sent as. */
export function sendTextError(
  { log }: { log: Pick<Log, 'error'> },
  error: unknown,
  { reply, mediaType }: { reply: FastifyReply; mediaType: string },
): FastifyReply {
  const refusal = asTransportRefusal(error, mediaType);
  if (refusal) startRefusal(reply, refusal);
  else {
    log.error({ err: error, requestId: reply.request.id }, 'request failed');
    reply.code(500);
  }
  const message = refusal?.message ?? 'The server failed to process the request.';
  return reply.type('text/plain; charset=utf-8').send(`${message}\n`);
}
