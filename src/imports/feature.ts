import type { Feature } from '../feature.ts';
import { registerImportsApi } from './api.ts';

export const imports = {
  name: 'imports',
  ids: ['imp'],
  routes: [registerImportsApi],
} satisfies Feature;
