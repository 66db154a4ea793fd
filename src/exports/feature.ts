import type { Feature } from '../feature.ts';
import { registerExportsApi } from './api.ts';

export const exports = {
  name: 'exports',
  ids: ['exp'],
  routes: [registerExportsApi],
} satisfies Feature;
