import type { Feature } from '../feature.ts';
import { registerTemplatesApi } from './api.ts';
import { registerTemplateVersionsApi } from './versions-api.ts';

export const templates = {
  name: 'templates',
  ids: ['tpl', 'tpv'],
  routes: [registerTemplatesApi, registerTemplateVersionsApi],
  reach: {
    tenant: [
      'createTemplate',
      'listTemplates',
      'getTemplate',
      'updateTemplate',
      'deleteTemplate',
      'listTemplateVersions',
      'getTemplateVersion',
      'restoreTemplateVersion',
    ],
  },
} satisfies Feature;
