/** `/v1/approvals`: what waits for the approval of a person, and what was decided. Emails and broadcasts have the routes that decide. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { approvalFilter, approvalSchema } from './schemas.ts';
import { showApproval } from './show.ts';
import { getApproval, listApprovals } from './store.ts';

/** Registers the routes of the approvals resource. */
export function registerApprovalsApi(server: FastifyInstance, { db }: Pick<App, 'db'>): void {
  const approvals = resourceRoutes<ApprovalRow>(server, {
    name: 'approval',
    tag: 'Approvals',
    path: '/approvals',
    prefix: 'apr',
    schema: approvalSchema,
    show: showApproval,
  });
  approvals.list({ query: approvalFilter }, (request, page) =>
    listApprovals(db.read, callerOf(request), { ...page, state: request.query.state }),
  );
  approvals.get({}, (request) => getApproval(db.read, callerOf(request), request.params.id));
}
