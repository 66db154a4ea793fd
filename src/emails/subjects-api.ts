/** Registers `GET /emails/subjects`, which finds emails by a part of their subject. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { isoTime } from '../system/clock.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { MAX_EXAMINED, searchSubjects } from './list/subjects-store.ts';
import { EXAMPLE_SUMMARY, emailPageSchema, showSummary } from './show.ts';

/** Number of days without `days`, and the maximum. */
const DAYS = 7;
const MAX_DAYS = 90;
/** Number of emails without `limit`, and the maximum. */
const LISTED = 20;
const MAX_LISTED = 100;
/** Maximum length of the text: that of a line in a message (RFC 5322 section 2.1.1). */
const MAX_TEXT = 998;

const query = Type.Object({
  text: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT,
      description: 'Part of the subject, in any case of its letters. Without it, every email is found.',
    }),
  ),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_DAYS,
      default: DAYS,
      description: 'Only emails of the last days.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LISTED, default: LISTED, description: 'Number of emails.' }),
  ),
});

export const foundSubjectsSchema = Type.Object(
  {
    data: emailPageSchema.properties.data,
    examined: Type.Integer({
      description: `Number of emails whose subjects were read: at most the newest ${MAX_EXAMINED}.`,
    }),
    since: Type.Union([Type.String(), Type.Null()], {
      description: 'Time of acceptance of the oldest of them; null when there was none.',
    }),
    isComplete: Type.Boolean({
      description: 'True when the subjects of all emails of the last days were read.',
    }),
  },
  {
    examples: [{ data: [EXAMPLE_SUMMARY], examined: 1, since: EXAMPLE_SUMMARY.createdAt, isComplete: true }],
  },
);

/** Registers the route. */
export function registerSubjects(server: FastifyInstance, { db, clock }: Pick<App, 'db' | 'clock'>): void {
  server.get<{ Querystring: Static<typeof query> }>(
    '/emails/subjects',
    {
      config: { needs: 'emails' },
      schema: {
        operationId: 'searchEmailSubjects',
        summary: 'Search subjects',
        description:
          'Returns the newest emails whose subject contains a text. It reads the subjects of a bounded number of the newest emails, and says how far it has looked.',
        tags: ['Emails'],
        querystring: query,
        response: { 200: foundSubjectsSchema },
      },
    },
    async (request) => {
      const { tenantId, mode, domainId } = callerOf(request);
      const { text = '', days = DAYS, limit = LISTED } = request.query;
      const search = { tenantId, mode, domainId, text, days, limit, now: clock.now() };
      const { emails, examined, since, isComplete } = await db.query(searchSubjects, search);
      return {
        data: emails.map(showSummary),
        examined,
        since: since === null ? null : isoTime(since),
        isComplete,
      };
    },
  );
}
