/** The operator's route of the warm standby. */
import type { FastifyInstance } from 'fastify';
import type { Progress } from './ship/shipper.ts';
import type { Standby } from './standby.ts';

/** The state of the standby as the control socket answers with it; `progress` is null while nothing is shipped. */
export type ShownStandby = { store: string; progress: Progress | null };

type Operating = { config: { standby: { store: string } }; standby: Standby };

/** Registers `GET /standby`. */
export function registerStandbyAdmin(server: FastifyInstance, { config, standby }: Operating): void {
  server.get(
    '/standby',
    (): ShownStandby => ({ store: config.standby.store, progress: standby.progress ?? null }),
  );
}
