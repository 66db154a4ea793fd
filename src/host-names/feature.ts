/** The host names under which this installation serves HTTP; `served-names.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createMtaStsApp } from './mta-sts.ts';

export const hostNames = { name: 'host-names', pages: [createMtaStsApp] } satisfies Feature;
