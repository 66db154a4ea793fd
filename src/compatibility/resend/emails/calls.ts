/** The calls about emails. */
import type { Call } from '../call.ts';
import { fieldsOf } from '../fields.ts';
import { askPage, showPage } from '../lists.ts';
import { readScheduledAt } from '../schedule.ts';
import { batchCall } from './batch.ts';
import { translationFor } from './find-template.ts';
import { translateEmail } from './send.ts';
import { type Email, showEmail, showSummary } from './show.ts';

const showId = ({ id }: Pick<Email, 'id'>) => ({ object: 'email', id });

export const emailCalls: readonly Call[] = [
  {
    at: 'POST /emails',
    operation: 'sendEmail',
    ask(given, access) {
      const email = translateEmail(given.body, translationFor(given, access));
      return email instanceof Promise ? email.then((body) => ({ body })) : { body: email };
    },
    answer: ({ id }: { id: string }) => ({ id }),
  },
  batchCall,
  { at: 'GET /emails', operation: 'listEmails', ask: askPage, answer: showPage(showSummary) },
  { at: 'GET /emails/:id', operation: 'getEmail', answer: showEmail },
  {
    at: 'PATCH /emails/:id',
    operation: 'rescheduleEmail',
    ask: ({ body, now }) => ({
      body: { scheduledAt: readScheduledAt(fieldsOf(body)['scheduled_at'], now) },
    }),
    answer: showId,
  },
  { at: 'POST /emails/:id/cancel', operation: 'cancelEmail', answer: showId },
];
