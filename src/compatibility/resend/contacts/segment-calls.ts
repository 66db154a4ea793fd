/** The calls about segments, and about audiences, which are another name of them. */
import type { Static } from 'typebox';
import type { audienceSchema } from '../../../audiences/schemas.ts';
import { type Calls, path } from '../../../http/json/calls.ts';
import { isId } from '../../../system/ids.ts';
import type { Access, Asked, Call, Given } from '../call.ts';
import { fieldsOf, refuseFields } from '../fields.ts';
import { askPage, showPage } from '../lists.ts';
import { ensureContactsAudience } from './audience.ts';
import { getSegment, handPickedFilter, type ShownSegment, showSegmentItem } from './segments.ts';

export const segmentCalls: readonly Call[] = [
  ...callsAt('/segments', 'segment'),
  ...callsAt('/audiences', 'audience'),
];

function callsAt(at: '/segments' | '/audiences', object: string): readonly Call[] {
  const named = ({ id, name }: ShownSegment) => ({ object, id, name });
  return [
    { at: `POST ${at}`, operation: 'createSegment', ask: askNew, answer: named },
    { at: `GET ${at}`, operation: 'listSegments', ask: askPage, answer: showPage(showSegmentItem) },
    {
      at: `GET ${at}/:id`,
      operation: 'getSegment',
      run: async ({ params: { id = '' } }, calls) => ({
        object,
        ...showSegmentItem(await getSegmentOrAudience(id, calls)),
      }),
    },
    {
      at: `PATCH ${at}/:id`,
      operation: 'updateSegment',
      ask: ({ body }) => ({ body: { name: fieldsOf(body)['name'] } }),
      answer: named,
    },
    {
      at: `DELETE ${at}/:id`,
      operation: 'deleteSegment',
      answer: (_: undefined, { params: { id } }) => ({ object, id, deleted: true }),
    },
  ];
}

async function askNew(given: Given, access: Access): Promise<Asked> {
  const fields = fieldsOf(given.body);
  refuseFields(fields, { filter: 'is not supported here; make segments with filters by /v1/segments' });
  const audienceId = await ensureContactsAudience(access, given);
  return { body: { name: fields['name'], audienceId, filter: handPickedFilter(given.now) } };
}

/** Returns a segment, or the audience of ours with this id, which is taken wherever Resend has a segment. */
function getSegmentOrAudience(id: string, calls: Calls) {
  if (isId('aud', id)) return calls.get<Static<typeof audienceSchema>>(path`/audiences/${id}`);
  return getSegment(id, calls);
}
