/** The first page of a tenant: what was sent last. */
import type { Static } from 'typebox';
import type { emailPageSchema } from '../../emails/show.ts';
import { Heading } from '../frame/elements.tsx';
import { definePage } from '../page.ts';
import { EmailTable } from './emails/list.tsx';

/** Number of emails on the page. */
const RECENT = 10;

export const overviewPage = definePage({
  area: 'tenant',
  path: '',
  menu: { group: 'sending', label: ({ emails }) => emails.overview },
  async show(context) {
    const { api, texts } = context;
    const page = await api.get<Static<typeof emailPageSchema>>('/emails', { limit: RECENT });
    return {
      title: texts.emails.overview,
      body: (
        <>
          <Heading title={texts.emails.overview} />
          <EmailTable context={context} emails={page.data} />
        </>
      ),
    };
  },
});
