import type { Feature } from '../feature.ts';
import { createPreferencesApp } from './app.tsx';
import { registerBrandingPreview } from './preview-api.tsx';

export const preferences = {
  name: 'preferences',
  routes: [registerBrandingPreview],
  // A key of one domain sees how the pages look, which all domains of its tenant share.
  reach: { tenant: ['previewBranding'] },
  pages: [createPreferencesApp],
} satisfies Feature;
