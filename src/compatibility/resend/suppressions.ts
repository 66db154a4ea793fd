/** The calls about suppressions. */
import type { Static } from 'typebox';
import type { addedBatchSchema, removedBatchSchema, suppressionSchema } from '../../suppressions/schemas.ts';
import { invalid } from '../../system/errors.ts';
import type { Asked, Call, Given } from './call.ts';
import { fieldsOf, refuseFields } from './fields.ts';
import { askPage, showPage } from './lists.ts';

type ShownSuppression = Static<typeof suppressionSchema>;

const named = ({ id }: { id: string }) => ({ object: 'suppression', id });

export const suppressionCalls: readonly Call[] = [
  {
    at: 'POST /suppressions',
    operation: 'createSuppression',
    ask: ({ body }) => ({ body: { email: fieldsOf(body)['email'] } }),
    answer: named,
  },
  { at: 'GET /suppressions', operation: 'listSuppressions', ask: askList, answer: showPage(showItem) },
  {
    at: 'GET /suppressions/:id',
    operation: 'getSuppression',
    answer: (suppression: ShownSuppression) => ({ object: 'suppression', ...showItem(suppression) }),
  },
  {
    at: 'DELETE /suppressions/:id',
    operation: 'deleteSuppression',
    answer: (_: undefined, { params: { id } }) => ({ object: 'suppression', id, deleted: true }),
  },
  {
    at: 'POST /suppressions/batch/add',
    operation: 'createSuppressions',
    ask: ({ body }) => ({ body: { suppressions: entriesOf(fieldsOf(body)['emails']) } }),
    answer: ({ data }: Static<typeof addedBatchSchema>) => ({
      data: data.flatMap((item) => ('id' in item ? [named(item)] : [])),
      errors: data.flatMap((item, index) =>
        'error' in item ? [{ index, message: item.error.message }] : [],
      ),
    }),
  },
  {
    at: 'POST /suppressions/batch/remove',
    operation: 'deleteSuppressions',
    ask: ({ body }) => {
      const fields = fieldsOf(body);
      refuseFields(fields, { ids: 'is not supported here; name the addresses in `emails`' });
      return { body: { emails: fields['emails'] } };
    },
    // The operation says what became of addresses, and not of ids.
    answer: ({ data }: Static<typeof removedBatchSchema>) => ({
      data: data.map(({ email, deleted }) => ({ object: 'suppression', id: email, deleted })),
    }),
  },
];

/** Returns the addresses as entries. Anything but a list is left to the schema, which refuses it. */
function entriesOf(emails: unknown): unknown {
  return Array.isArray(emails) ? emails.map((email: unknown) => ({ email })) : emails;
}

const ORIGINS = ['bounce', 'complaint', 'manual'];

function askList(given: Given): Asked {
  const { origin } = given.query;
  if (origin === undefined) return askPage(given);
  if (typeof origin !== 'string' || !ORIGINS.includes(origin))
    throw invalid('origin', `\`origin\` must be one of ${ORIGINS.join(', ')}`);
  return { query: { ...askPage(given).query, reason: origin } };
}

function showItem({ id, email, reason, sourceEmailId, createdAt }: ShownSuppression) {
  return {
    id,
    email,
    origin: reason === 'unsubscribe' ? 'manual' : reason,
    source_id: sourceEmailId,
    created_at: createdAt,
  };
}
