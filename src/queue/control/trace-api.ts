/** Registers the operator's route that shows the attempts at a site while they happen. It is served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { createJsonLines, JSON_LINES_TYPE, type JsonLines } from '../../http/json/json-lines.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import type { TraceEvent, Traces } from '../conversation/trace.ts';
import { findSiteOf } from './site-store.ts';

/** Maximum number of traces at the same time. Each makes the lines of the sessions anew. */
const MAX_TRACES = 8;

const traceSchema = Type.Object({ site: Type.String({ minLength: 1, maxLength: 1_000 }) });

export type ShownTrace = TraceEvent & { at: string };

/** `trace` is undefined when no daemon runs: nothing is delivered then. */
type TraceApp = Pick<App, 'db' | 'clock'> & { trace: Traces | undefined };

/** Registers `GET /queue/trace` on the server of the control socket. */
export function registerTrace(server: FastifyInstance, { db, clock, trace }: TraceApp): void {
  const open = new Set<JsonLines>();
  server.get<{ Querystring: Static<typeof traceSchema> }>(
    '/queue/trace',
    { schema: { querystring: traceSchema } },
    async ({ query }, reply) => {
      const name = query.site.toLowerCase();
      const siteOfDomain = await findSiteOf(db.read, name);
      if (!trace) throw new AppError('invalid_state', 'No daemon runs, so nothing is being delivered');
      if (open.size >= MAX_TRACES)
        throw new AppError('invalid_state', `At most ${MAX_TRACES} traces run at the same time`);
      const lines = createJsonLines(clock, () => {
        stop();
        open.delete(lines);
      });
      const stop = trace.watch(
        { name, siteOfDomain },
        (event) => lines.send({ at: isoTime(clock.now()), ...event }),
        () => {
          lines.send({ kind: 'dropped' });
          lines.end();
        },
      );
      open.add(lines);
      return reply.type(JSON_LINES_TYPE).send(lines.stream);
    },
  );
  // A server that closes waits for its requests, and a trace would never end.
  server.addHook('preClose', async () => {
    for (const lines of open) lines.end();
  });
}
