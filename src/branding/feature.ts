/** Name, colours and logo of a tenant, which the public pages show; `store.ts` is the door, and `paths.ts` names what the pages load. */
import type { Feature } from '../feature.ts';
import { registerBrandingApi } from './api.ts';

export const branding = {
  name: 'branding',
  routes: [registerBrandingApi],
  // A key of one domain sees how the pages look, which all domains of its tenant share, and does not change it.
  reach: { tenant: ['getBranding'], none: ['changeBranding', 'deleteBranding'] },
} satisfies Feature;
