/**
 * Cancels slow responses when the client disconnects. Only the connection shows this, because Node closes the request
 * object as soon as its body was read.
 */
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../system/errors.ts';

/**
 * Runs work for a request. The signal is aborted, with a refusal as its reason, when the connection closes before the
 * result exists.
 */
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
