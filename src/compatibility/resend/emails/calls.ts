/** The calls about emails. */
import type { Call } from '../call.ts';
import { fieldsOf } from '../fields.ts';
import { translateEmail } from './send.ts';

export const emailCalls: readonly Call[] = [
  {
    at: 'POST /emails',
    operation: 'sendEmail',
    ask: ({ body, now }) => ({ body: translateEmail(fieldsOf(body), now) }),
    answer: ({ id }: { id: string }) => ({ id }),
  },
];
