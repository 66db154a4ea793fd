/** The HTML of a broadcast as a contact would read it, for the frame of the draft's page. */
import { AppError } from '../../../system/errors.ts';
import { definePage } from '../../page.ts';
import { findPreview } from './draft.tsx';

export const broadcastPreviewPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId/preview',
  async show(context) {
    const preview = await findPreview(context);
    return { frame: preview instanceof AppError ? '' : preview.html };
  },
});
