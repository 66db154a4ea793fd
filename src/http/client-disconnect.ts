/**
 * Answers that take long, and whose reader may have left before they are there. It is the connection that tells: a request
 * is closed as soon as its body was read.
 */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';

/** `gone`: aborted, with a refusal as its reason, when the connection has closed before the result was there. */
export async function whileAwaited<Result>(
  { raw: { socket } }: FastifyRequest,
  run: (gone: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const disconnect = new AbortController();
  const leave = (): void =>
    disconnect.abort(new AppError('request_timeout', 'Nobody waits for the answer any more'));
  if (socket.destroyed) leave();
  socket.once('close', leave);
  try {
    return await run(disconnect.signal);
  } finally {
    // The next request comes on the same connection.
    socket.off('close', leave);
  }
}
