/** The routes that approve and decline broadcasts. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { registerDecisions } from '../approvals/decision-api.ts';
import { decideBroadcast } from './decide.ts';

/** Registers the routes on the server. */
export function registerBroadcastApprovalApi(server: FastifyInstance, app: App): void {
  registerDecisions(server, {
    kind: 'broadcast',
    tag: 'Broadcasts',
    path: '/broadcasts/:id',
    effects: {
      approved: 'Starts a broadcast that waits for approval, now or at its `scheduleAt`.',
      declined:
        'Declines a broadcast that waits for approval. It is a draft again, unless it is scheduled for a time that needs no approval, and can be changed and sent again.',
    },
    approve: (caller, id, given) => decideBroadcast(app, caller, { ...given, id, decision: 'approved' }),
    decline: (caller, id, given) => decideBroadcast(app, caller, { ...given, id, decision: 'declined' }),
  });
}
