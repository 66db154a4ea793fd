/** The routes that approve and decline emails. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { type Decide, registerDecisions } from '../approvals/decision-api.ts';
import { decideEmail } from './approval.ts';
import { getEmailHead } from './change.ts';

/** Registers the routes on the server. */
export function registerEmailApprovalApi(server: FastifyInstance, app: App): void {
  const decideAs =
    (decision: 'approved' | 'declined'): Decide =>
    async (caller, emailId, { by, seen, reason = null }) => {
      const { id } = await getEmailHead(app, caller, emailId);
      const given = { id, by, seen, reason, decision, now: app.clock.now() };
      const approval = await app.db.commit(decideEmail, given);
      for (const name of ['events', 'queue']) app.wakeups.notify(name);
      return approval;
    };
  registerDecisions(server, {
    kind: 'email',
    tag: 'Emails',
    path: '/emails/:id',
    effects: {
      approved: 'Lets an email leave that waits for approval, now or at its `scheduledAt`.',
      declined: 'Cancels an email that waits for approval.',
    },
    approve: decideAs('approved'),
    decline: decideAs('declined'),
  });
}
