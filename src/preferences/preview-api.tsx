/**
 * `POST /v1/branding/preview`: shows the public pages as readers would see them with a branding. It stands here, because the same components
 * render it: whoever chooses colours sees exactly what readers get.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { BrandingReader } from '../branding/change.ts';
import { contrastsOf } from '../branding/colours.ts';
import { brandingChangeSchema, contrastSchema } from '../branding/schemas.ts';
import { type Branding, changedBranding } from '../branding/store.ts';
import { renderPage } from '../http/pages/render.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { ConfirmationPage } from './confirmation-page.tsx';
import { LANGUAGES, type Language } from './language.ts';
import { maskAddress } from './mask-address.ts';
import { PreferencesPage, type TopicChoice } from './preferences-page.tsx';
import { Alone } from './public-page.tsx';
import { listTopicChoices } from './store.ts';

/** The public pages that are shown. */
export const PREVIEWED_PAGES = ['unsubscribe', 'preferences', 'confirmation'] as const;

const requestSchema = Type.Object(
  {
    ...brandingChangeSchema.properties,
    page: Type.Enum([...PREVIEWED_PAGES], {
      description:
        '`unsubscribe`: the page behind the link of a mail; `preferences`: the one with the topics; `confirmation`: the one behind the link of a confirmation mail.',
    }),
    language: Type.Optional(Type.Enum([...LANGUAGES], { default: 'en' })),
  },
  { examples: [{ page: 'unsubscribe', language: 'de', color: '#1f5fbf' }] },
);

export const brandingPreviewSchema = Type.Object(
  {
    html: Type.String({ description: 'The page, with its styles and the logo in itself.' }),
    contrast: contrastSchema,
  },
  {
    title: 'BrandingPreview',
    examples: [{ html: '<!doctype html><html lang="de"></html>', contrast: { light: 6.09, dark: 6.09 } }],
  },
);

type PreviewApp = Pick<App, 'db'> & { brandings: BrandingReader };

/** Registers the route. It stores nothing, and a key that only reads may use it. */
export function registerBrandingPreview(server: FastifyInstance, { db, brandings }: PreviewApp): void {
  const schema = {
    operationId: 'previewBranding',
    summary: 'Preview the branding',
    description:
      'Shows a public page as a reader would see it with these changes to the branding; without any, as it is now. Nothing is stored. What ' +
      'cannot be set is refused as it is when the branding is set.',
    tags: ['Branding'],
    body: requestSchema,
    response: { 200: brandingPreviewSchema },
  };
  const config = { needs: 'read', worksOnLowDisk: true } as const;
  server.post('/branding/preview', { config, schema }, async (request) => {
    const { page, language = 'en', ...body } = request.body as Static<typeof requestSchema>;
    const { tenantId } = callerOf(request);
    const change = await brandings.read(body, tenantId);
    const branding = await changedBranding(db.read, { tenantId, change });
    const topics =
      page === 'confirmation' ? [] : await listTopicChoices(db.read, { tenantId, address: READER });
    const shown = <Previewed page={page} language={language} branding={branding} topics={topics} />;
    const html = renderPage(<Alone.Provider value={branding}>{shown}</Alone.Provider>);
    return { html, contrast: contrastsOf(branding) };
  });
}

/** The reader of a preview, who has chosen nothing yet. */
const READER = 'reader@example.com';

type PreviewedProps = {
  page: (typeof PREVIEWED_PAGES)[number];
  language: Language;
  branding: Branding;
  /** The topics of the tenant. */
  topics: readonly TopicChoice[];
};

/** A page before its reader has done anything. That of unsubscribing names a topic of the tenant, if it has one. */
function Previewed({ page, topics, ...shown }: PreviewedProps) {
  const common = { ...shown, address: maskAddress(READER) };
  if (page === 'confirmation')
    return <ConfirmationPage {...common} sender={shown.branding.name ?? undefined} state="pending" />;
  return (
    <PreferencesPage
      {...common}
      topic={topics[0]?.name}
      outcome="asked"
      topics={page === 'preferences' ? topics : undefined}
    />
  );
}
