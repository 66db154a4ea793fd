import type { Feature } from '../feature.ts';
import { createPreferencesApp } from './app.tsx';

export const preferences = {
  name: 'preferences',
  pages: [createPreferencesApp],
} satisfies Feature;
