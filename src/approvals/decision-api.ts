/** Registers the routes that approve and decline, under the path of an email or a broadcast. */
import type { FastifyInstance } from 'fastify';
import type { ApprovalRow } from '../db/approval-tables.ts';
import { paramsOf } from '../http/json/resource.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import {
  type ApproveBody,
  approvalSchema,
  approveSchema,
  type DeclineBody,
  declineSchema,
} from './schemas.ts';
import { showApproval } from './show.ts';

/** The decision of a person, or of a key that needs no approval itself. */
export type Decision = {
  /** Id of who decides. */
  by: string;
  /** Hash of what was read. Something else is not decided about. */
  seen: string;
  /** Words of the one who declines. */
  reason?: string | null;
};

export type Decide = (caller: Caller, id: string, decision: Decision) => Promise<ApprovalRow>;

type Decisions = {
  kind: ApprovalRow['kind'];
  tag: string;
  /** Path of the mail, such as `/emails/:id`. */
  path: string;
  /** Sentence that says what happens to mail that is approved or declined. */
  effects: { approved: string; declined: string };
  approve: Decide;
  decline: Decide;
};

const ONLY =
  'Only a key with full access whose own mail requires no approval may do this. Returns the approval.';

/** Registers `POST …/approve` and `POST …/decline`. */
export function registerDecisions(server: FastifyInstance, decisions: Decisions): void {
  const { kind, tag, path, effects } = decisions;
  const article = kind === 'email' ? 'an' : 'a';
  const shared = { tags: [tag], ...paramsOf(path), response: { 200: approvalSchema } };
  const config = { refuses: ['invalid_state'] as const };
  const suffix = kind === 'email' ? 'Email' : 'Broadcast';
  server.post<{ Params: { id: string }; Body: ApproveBody }>(
    `${path}/approve`,
    {
      config,
      schema: {
        ...shared,
        operationId: `approve${suffix}`,
        summary: `Approve ${article} ${kind}`,
        description: `${effects.approved} ${ONLY}`,
        body: approveSchema,
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const decision = { by: deciderOf(caller), seen: request.body.hash };
      return showApproval(await decisions.approve(caller, request.params.id, decision));
    },
  );
  server.post<{ Params: { id: string }; Body: DeclineBody }>(
    `${path}/decline`,
    {
      config: { ...config, worksOnLowDisk: true },
      schema: {
        ...shared,
        operationId: `decline${suffix}`,
        summary: `Decline ${article} ${kind}`,
        description: `${effects.declined} ${ONLY}`,
        body: declineSchema,
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { hash: seen, reason = null } = request.body;
      const decision = { by: deciderOf(caller), seen, reason };
      return showApproval(await decisions.decline(caller, request.params.id, decision));
    },
  );
}

/** Returns the id of the key or of the person that decides. */
function deciderOf({ keyId, personId }: Caller): string {
  const id = keyId ?? personId;
  if (id === null) throw new Error('a caller is a key or a person');
  return id;
}
