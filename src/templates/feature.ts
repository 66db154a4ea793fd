import type { Feature } from '../feature.ts';
import { registerTemplatesApi } from './api.ts';

export const templates = {
  name: 'templates',
  ids: ['tpl'],
  routes: [registerTemplatesApi],
  reach: {
    tenant: ['createTemplate', 'listTemplates', 'getTemplate', 'updateTemplate', 'deleteTemplate'],
  },
} satisfies Feature;
