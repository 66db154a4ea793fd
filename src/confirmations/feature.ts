import type { App } from '../app.ts';
import { CONFIRMATIONS, findRequest } from '../audiences/opt-in/store.ts';
import { createDownloads } from '../emails/download.ts';
import type { Feature } from '../feature.ts';
import { createLinks } from '../links/links.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import { completeTask } from '../tasks/store.ts';
import { sendConfirmation } from './send.ts';

/** Maximum number of mails that are made at the same time, half of them for a tenant alone. */
const CONCURRENCY = 40;
/** Pause of a request after a failure, for example because the disk is full, in milliseconds. */
const PAUSE_AFTER_ERROR_MS = 1_000;

export const confirmations = {
  name: 'confirmations',
  tasks: [createConfirmationKind],
} satisfies Feature;

/**
 * Returns confirmation mail as a kind of task. A tenant has a part of the slots, so that an import of one with a
 * million pending contacts does not delay the forms of another.
 */
export function createConfirmationKind(base: App): TaskKind {
  const bodies = base.guards.memory.api;
  const app = { ...base, downloads: createDownloads({ ...base, bodies }), links: createLinks(base) };
  return {
    name: CONFIRMATIONS,
    leavesHost: false,
    concurrency: CONCURRENCY,
    backOff: () => PAUSE_AFTER_ERROR_MS,
    async run(task) {
      const lease = leaseOf(task);
      const request = await findRequest(app.db.read, { id: Number(task.reference) });
      if (!request) return app.db.commit(completeTask, lease);
      return sendConfirmation(app, request, lease);
    },
  };
}
