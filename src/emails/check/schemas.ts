/** Schemas of the answer of the check of an email. */
import { type Static, Type } from 'typebox';
import type { HeaderField } from '../../mail/message/parse/header-fields.ts';
import type { CheckResult } from './check-message.ts';
import { type Code, KINDS } from './findings.ts';

const SEVERITIES = ['error', 'warning', 'notice'] as const;
const CODES = Object.keys(KINDS) as readonly Code[];

const line = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Line of the HTML, from 1. Null for the subject, other header fields and the text.',
});

const findingSchema = Type.Object(
  {
    code: Type.Enum([...CODES], { description: 'What was found, for programs. There will be more codes.' }),
    severity: Type.Enum([...SEVERITIES], {
      description:
        '`error`: readers or receivers get something broken. `warning`: some of them do, or filters may take the email for spam. `notice`: it can be better.',
    }),
    message: Type.String({ description: 'What was found, for people.' }),
    source: Type.Union([Type.String(), Type.Null()], { description: 'Page that explains it.' }),
    count: Type.Integer({ description: 'How often it was found.' }),
    places: Type.Array(Type.Object({ line, text: Type.String({ description: 'What stands there.' }) }), {
      description: 'The first five places.',
    }),
  },
  { title: 'CheckFinding' },
);

const linkSchema = Type.Object({
  url: Type.String({ description: 'Address of the link, as it is written.' }),
  text: Type.String({ description: 'Text of the link, or of its image.' }),
  line: Type.Integer({ description: 'Line of the HTML, from 1.' }),
});

export const checkSchema = Type.Object(
  {
    sizeBytes: Type.Integer({ description: 'Size of the whole message as it is sent.' }),
    htmlBytes: Type.Integer({ description: 'Size of the HTML before tracked links are put into it.' }),
    textBytes: Type.Integer({ description: 'Size of the text.' }),
    headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'All header fields in their order, as they are sent, with their encoded words decoded.',
    }),
    findings: Type.Array(findingSchema, { description: 'What was found, errors first.' }),
    links: Type.Array(linkSchema, { description: 'The first 100 links of the HTML.' }),
    linksOmitted: Type.Integer({ description: 'Number of further links.' }),
  },
  {
    title: 'EmailCheck',
    examples: [
      {
        sizeBytes: 2_418,
        htmlBytes: 74,
        textBytes: 34,
        headers: [{ name: 'Subject', value: 'Your order is on its way' }],
        findings: [
          {
            code: 'link_http',
            severity: 'warning',
            message: KINDS.link_http.message,
            source: null,
            count: 1,
            places: [{ line: 1, text: 'http://acme.example.com/orders' }],
          },
        ],
        links: [{ url: 'http://acme.example.com/orders', text: 'Your orders', line: 1 }],
        linksOmitted: 0,
      },
    ],
  },
);

type Checked = {
  sizeBytes: number;
  html: string | null;
  text: string | null;
  fields: readonly HeaderField[];
  result: CheckResult;
};

/** Returns the answer about an email. */
export function showCheck({ sizeBytes, html, text, fields, result }: Checked): Static<typeof checkSchema> {
  const { findings, links } = result;
  return {
    sizeBytes,
    htmlBytes: Buffer.byteLength(html ?? ''),
    textBytes: Buffer.byteLength(text ?? ''),
    headers: fields.map(({ name, text: value }) => ({ name, value })),
    findings,
    links: links.listed,
    linksOmitted: links.omitted,
  };
}
