/** Registers the operator's routes of the sources. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { listPools, listSources, type ShownPool, type ShownSource } from './list.ts';
import { type ProbedAddress, probeByHand, resumeByHand, suspendByHand } from './operate.ts';
import { packagedCurves } from './warm-up/curves.ts';
import { beginWarmUp, endWarmUp } from './warm-up/operate.ts';

const named = Type.Object({ name: Type.String() });
type Named = Static<typeof named>;
const warmUpSchema = Type.Object({ curve: Type.Optional(Type.String()) }, { additionalProperties: false });

/** Maximum length of the operator's reason, in characters. */
const MAX_REASON = 500;
const suspensionSchema = Type.Object(
  { reason: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REASON })) },
  { additionalProperties: false },
);

type SourcesApp = Pick<App, 'clock' | 'config' | 'db' | 'egress' | 'log' | 'wakeups'>;

/** The answer to a probe. */
export type ShownProbe = { name: string; addresses: ProbedAddress[] };

/** The sources and pools of the configuration, and the names of the curves of warm-ups. */
export type ShownSources = { sources: ShownSource[]; pools: ShownPool[]; curves: string[] };

/** Registers `/sources` on the server of the control socket. */
export function registerSources(server: FastifyInstance, app: SourcesApp): void {
  server.get(
    '/sources',
    async (): Promise<ShownSources> => ({
      sources: await listSources(app),
      pools: listPools(app),
      curves: [...packagedCurves().keys()],
    }),
  );
  server.put<{ Params: Named; Body: Static<typeof warmUpSchema> }>(
    '/sources/:name/warm-up',
    { schema: { params: named, body: warmUpSchema } },
    async ({ params: { name }, body: { curve } }) => {
      await beginWarmUp(app, name, curve);
      return (await listSources(app)).find((source) => source.name === name);
    },
  );
  server.delete<{ Params: Named }>(
    '/sources/:name/warm-up',
    { schema: { params: named } },
    async ({ params: { name } }) => {
      await endWarmUp(app, name);
      return { name };
    },
  );
  registerSuspensions(server, app);
}

function registerSuspensions(server: FastifyInstance, app: SourcesApp): void {
  const schema = { params: named };
  server.put<{ Params: Named; Body: Static<typeof suspensionSchema> }>(
    '/sources/:name/suspension',
    { schema: { params: named, body: suspensionSchema } },
    async ({ params: { name }, body: { reason = null } }) => {
      await suspendByHand(app, name, reason);
      return { name };
    },
  );
  server.delete<{ Params: Named }>('/sources/:name/suspension', { schema }, async ({ params: { name } }) => {
    await resumeByHand(app, name);
    return { name };
  });
  server.post<{ Params: Named }>(
    '/sources/:name/probe',
    { schema },
    async ({ params: { name } }): Promise<ShownProbe> => ({ name, addresses: await probeByHand(app, name) }),
  );
}
