/** The public pages in a frame, as the API renders them: as they are, and as what is entered would make them. */
import type { Static } from 'typebox';
import type { BrandingBody } from '../../../branding/schemas.ts';
import { Page } from '../../../http/pages/page.tsx';
import { renderPage } from '../../../http/pages/render.ts';
import { type brandingPreviewSchema, PREVIEWED_PAGES } from '../../../preferences/preview-api.tsx';
import { AppError } from '../../../system/errors.ts';
import { withLabels } from '../../frame/refusal.tsx';
import { type Answer, definePage, type TenantContext } from '../../page.ts';

/** Name of the frame of the previews. */
export const PREVIEW_FRAME = 'preview';

export const brandingPreviewPage = definePage({
  area: 'tenant',
  path: '/branding/preview',
  show: (context) => showPreview(context, {}),
});

/** Returns the public page that a query names. */
export function previewedPage(query: URLSearchParams): (typeof PREVIEWED_PAGES)[number] {
  return PREVIEWED_PAGES.find((page) => page === query.get('page')) ?? 'unsubscribe';
}

/** Returns the frame with a public page after some changes; those that are refused give the reason. */
export async function showPreview(context: TenantContext, changes: BrandingBody): Promise<Answer> {
  const { api, query, formats, texts } = context;
  const body = { ...changes, page: previewedPage(query), language: formats.language };
  try {
    return { frame: (await api.post<Static<typeof brandingPreviewSchema>>('/branding/preview', body)).html };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { name, logo, color, textColor, darkColor, darkTextColor } = texts.branding;
    const labels = new Map(Object.entries({ name, logo, color, textColor, darkColor, darkTextColor }));
    return {
      frame: renderPage(
        <Page title={texts.branding.preview} lang={formats.language}>
          <p>{withLabels(error.message, (field) => labels.get(field), texts.frame.quoted)}</p>
        </Page>,
      ),
    };
  }
}
