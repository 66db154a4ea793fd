/** Registers `GET /emails/{id}/check`, which reads an email as a careful colleague would before it is sent to many. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { paramsOf } from '../../http/json/resource.ts';
import { type HeaderField, readHeaderFields } from '../../mail/message/parse/header-fields.ts';
import type { Texts } from '../../queue/contents/read.ts';
import { textsFor } from '../../queue/contents/reader.ts';
import { findFor, getEmail, getTexts, type ShowApp } from '../open-email.ts';
import type { RawMessages } from '../raw/open.ts';
import { type RecipientQuery, recipientQuery } from '../raw/recipient-query.ts';
import type { Checker } from './checker.ts';
import { checkSchema, showCheck } from './schemas.ts';

type CheckApp = ShowApp & { rawMessages: RawMessages; checker: Checker };
type Asked = FastifyRequest<{ Params: { id: string }; Querystring: RecipientQuery }>;

const PATH = '/emails/:id/check';

/** Registers the route. */
export function registerCheck(server: FastifyInstance, app: CheckApp): void {
  server.get<{ Params: { id: string }; Querystring: RecipientQuery }>(
    PATH,
    {
      config: { needs: 'emails', refuses: ['invalid_state'] },
      schema: {
        operationId: 'checkEmail',
        summary: 'Check an email',
        description:
          'Reads the header, the HTML, the links and the text of an email, and returns what readers, mail programs and filters may stumble over. ' +
          'Nothing is fetched or looked up. 409 `invalid_state` once the content was deleted.',
        tags: ['Emails'],
        ...paramsOf(PATH),
        querystring: recipientQuery,
        response: { 200: checkSchema },
      },
    },
    async (request) => check(app, request),
  );
}

async function check(app: CheckApp, request: Asked) {
  const head = await findFor(app, request);
  const raw = await app.rawMessages.open(head, request.query.recipient);
  const fields = fieldsOf(await raw.header());
  const isMarketing = head.type === 'broadcast';
  const unsubscribeUrl = isMarketing ? unsubscribeUrlOf(fields) : null;
  const { html, text } = forReader(await getTexts(app, request, head), unsubscribeUrl);
  const missingVariables = JSON.parse((await getEmail(app, head)).missingVariables) as string[];
  const { sizeBytes } = raw;
  const input = { fields, html, text, sizeBytes, isMarketing, unsubscribeUrl, missingVariables };
  return showCheck({ ...input, result: await app.checker.check(input, head.tenantId) });
}

/** Returns the fields of a header; none when it is too large to be read. */
function fieldsOf(header: Buffer): HeaderField[] {
  try {
    return readHeaderFields(header);
  } catch {
    return [];
  }
}

/** Returns the link by which a reader of marketing mail unsubscribes: the first one of the header. */
function unsubscribeUrlOf(fields: readonly HeaderField[]): string | null {
  const field = fields.find(({ name }) => name.toLowerCase() === 'list-unsubscribe');
  return /<(https?:[^<>\s]+)>/.exec(field?.value ?? '')?.[1] ?? null;
}

/** Returns the texts of an email with the link of its reader, as it is sent. */
function forReader({ html, text }: Texts, unsubscribeUrl: string | null): Pick<Texts, 'html' | 'text'> {
  if (unsubscribeUrl === null) return { html, text };
  const given = { ...(html !== null && { html }), ...(text !== null && { text }) };
  const filled = textsFor(given, { unsubscribeUrl });
  return { html: filled.html ?? null, text: filled.text ?? null };
}
