/** `/v1/suppressions/batch` and `/batch/delete`: up to a hundred addresses in one transaction. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { checkedByItem } from '../http/json/items.ts';
import { AppError } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { addSuppressions, removeSuppressions } from './change.ts';
import { findAddress, newSuppression } from './request.ts';
import {
  addedBatchSchema,
  type RemovalBatch,
  removalBatchSchema,
  removedBatchSchema,
  suppressionBatchSchema,
} from './schemas.ts';
import { showSuppression } from './show.ts';
import type { Suppressed } from './store.ts';

const tags = ['Suppressions'];
/** A key that is never on the list. It stands for text that is not an address. */
const NO_ADDRESS = '';

/** Registers the batch routes. */
export function registerSuppressionBatches(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const { validatorCompiler, check } = checkedByItem(server, suppressionBatchSchema, 'suppressions');
  server.post<{ Body: { suppressions: readonly unknown[] } }>(
    '/suppressions/batch',
    {
      config: { worksOnLowDisk: true },
      validatorCompiler,
      schema: {
        operationId: 'createSuppressions',
        summary: 'Suppress up to 100 addresses',
        description: 'An address that is refused has an error in its item and does not affect the others.',
        tags,
        body: suppressionBatchSchema,
        response: { 200: addedBatchSchema },
      },
    },
    async (request) => {
      const { tenantId, mode } = callerOf(request);
      const cause = { mode, now: app.clock.now() };
      const items = request.body.suppressions.map((item) =>
        readItem(() => newSuppression(tenantId, check(item), cause.now)),
      );
      const wanted = items.flatMap((item) => (item.kind === 'wanted' ? [item.suppression] : []));
      const added = (await app.db.commit(addSuppressions, { wanted, cause })).values();
      return {
        data: items.map((item) => (item.kind === 'wanted' ? showNext(added) : showRefusal(item.error))),
      };
    },
  );
  server.post<{ Body: RemovalBatch }>(
    '/suppressions/batch/delete',
    {
      config: { worksOnLowDisk: true },
      schema: {
        operationId: 'deleteSuppressions',
        summary: 'Remove up to 100 addresses from the list',
        description:
          'Each address is removed independently; the response has one item for each, in the same order.',
        tags,
        body: removalBatchSchema,
        response: { 200: removedBatchSchema },
      },
    },
    async (request) => {
      const { tenantId, mode } = callerOf(request);
      const { emails } = request.body;
      const keys = emails.map((email) => findAddress(email) ?? NO_ADDRESS);
      const cause = { mode, now: app.clock.now() };
      const removed = await app.db.commit(removeSuppressions, { tenantId, keys, cause });
      return { data: emails.map((email, index) => ({ email, deleted: removed[index] ?? false })) };
    },
  );
}

type Item = { kind: 'wanted'; suppression: SuppressionRow } | { kind: 'refused'; error: AppError };

function readItem(read: () => SuppressionRow): Item {
  try {
    return { kind: 'wanted', suppression: read() };
  } catch (error) {
    if (error instanceof AppError) return { kind: 'refused', error };
    throw error;
  }
}

function showRefusal({ code, message }: AppError) {
  return { error: { type: code, message } };
}

function showNext(added: Iterator<Suppressed>) {
  const next = added.next();
  if (next.done) throw new Error('a suppression that was added has no answer');
  return { ...showSuppression(next.value.suppression), created: next.value.outcome === 'created' };
}
