/** APIs of other products, so that programs that use their clients need no change. They own no data. */
import type { Feature } from '../feature.ts';
import { resendApi } from './resend/api.ts';

export const compatibility = { name: 'compatibility', foreignApis: [resendApi] } satisfies Feature;
