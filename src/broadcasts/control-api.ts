/** Routes that start, pause, resume and cancel a broadcast. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { paramsOf } from '../http/json/resource.ts';
import type { ErrorCode } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { control } from './control.ts';
import { broadcastSchema } from './schemas.ts';
import { showBroadcast } from './show.ts';
import { resumeBroadcast, startBroadcast } from './start.ts';
import { withProgress } from './store.ts';

type Action = {
  name: 'send' | 'pause' | 'resume' | 'cancel';
  summary: string;
  description: string;
  refuses: readonly ErrorCode[];
  run(request: FastifyRequest<{ Params: { id: string } }>): Promise<BroadcastRow>;
};

/** Registers the routes on the server. */
export function registerControlApi(server: FastifyInstance, app: App): void {
  const changeTo =
    (cause: 'paused' | 'resumed' | 'canceled'): Action['run'] =>
    (request) =>
      control(app, { owner: callerOf(request), id: request.params.id, cause });
  const actions: readonly Action[] = [
    {
      name: 'send',
      summary: 'Send a broadcast',
      description:
        'Starts a draft, or a scheduled broadcast before its time. It is checked once more, and its content is frozen: later changes of templates, topics and segments do not matter to it.',
      refuses: ['invalid_state', 'validation_error', 'restricted_api_key', 'domain_not_verified'],
      run: (request) =>
        startBroadcast(app, callerOf(request), { id: request.params.id, from: ['draft', 'scheduled'] }),
    },
    {
      name: 'pause',
      summary: 'Pause a broadcast',
      description:
        'From the answer on, no copy is taken for delivery. Copies that are being delivered at this moment still arrive.',
      refuses: ['invalid_state'],
      run: changeTo('paused'),
    },
    {
      name: 'resume',
      summary: 'Resume a paused broadcast',
      description:
        'Sending continues with the contacts that have not got the broadcast. Bounces and complaints are judged anew, from the copies ' +
        'that are attempted from now on. A broadcast that was paused as `late` is checked and started, like one that is sent.',
      refuses: ['invalid_state', 'validation_error', 'restricted_api_key', 'domain_not_verified'],
      run: (request) => resumeBroadcast(app, callerOf(request), request.params.id),
    },
    {
      name: 'cancel',
      summary: 'Cancel a broadcast',
      description:
        'From the answer on, no copy is taken for delivery. Contacts who have not got the broadcast never will.',
      refuses: ['invalid_state'],
      run: changeTo('canceled'),
    },
  ];
  for (const action of actions) registerAction(server, app, action);
}

function registerAction(
  server: FastifyInstance,
  app: App,
  { name, summary, description, refuses, run }: Action,
): void {
  const path = `/broadcasts/:id/${name}`;
  server.post<{ Params: { id: string } }>(
    path,
    {
      config: { refuses },
      schema: {
        operationId: `${name}Broadcast`,
        summary,
        description,
        tags: ['Broadcasts'],
        ...paramsOf(path),
        response: { 200: broadcastSchema },
      },
    },
    async (request) => showBroadcast(await withProgress(app.db.read, await run(request))),
  );
}
