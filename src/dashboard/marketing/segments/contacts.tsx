/** The contacts of a segment. A page reads a bounded part of the audience. */
import type { Static } from 'typebox';
import type { segmentContactsSchema } from '../../../audiences/segments/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Heading } from '../../frame/elements.tsx';
import { Pager, pageQueryOf } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { ContactTable } from '../audiences/audience.tsx';
import type { Segment } from './form-page.tsx';

export const segmentContactsPage = definePage({
  area: 'tenant',
  path: '/segments/:segmentId/contacts',
  async show(context) {
    const { api, params, query, texts, at } = context;
    const segmentPath = path`/segments/${params['segmentId'] ?? ''}`;
    const segment = await api.get<Segment>(segmentPath, { count: false });
    const page = await api.get<Static<typeof segmentContactsSchema>>(
      `${segmentPath}/contacts`,
      pageQueryOf(query, []),
    );
    // The list goes on from the cursors, which may be contacts that are not in the segment.
    const ends = [page.previousCursor, page.nextCursor].flatMap((id) => (id === null ? [] : [{ id }]));
    return {
      title: `${segment.name}: ${texts.segments.contacts}`,
      body: (
        <>
          <Heading title={segment.name}>
            <a href={at(`/segments/${segment.id}`)}>{texts.segments.rules}</a>
          </Heading>
          <p class="muted">{texts.segments.shortPage}</p>
          <ContactTable context={context} contacts={page.data} empty={texts.segments.noContacts} />
          <Pager context={context} page={{ data: ends, hasMore: page.hasMore }} />
        </>
      ),
    };
  },
});
