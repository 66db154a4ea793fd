/** What reading the message of an email finds: mistakes in its HTML and links, and its header fields as they are sent. */
import type { Static } from 'typebox';
import type { checkSchema } from '../../../emails/check/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Facts, Foreign, Heading, Sentence, Status, type Tone } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import { Source } from '../../frame/source.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { emailPath } from './facts.tsx';

type Check = Static<typeof checkSchema>;

const TONES: Record<Check['findings'][number]['severity'], Tone> = {
  error: 'bad',
  warning: 'warning',
  notice: 'neutral',
};

export const emailCheckPage = definePage({
  area: 'tenant',
  path: '/emails/:id/check',
  async show(context) {
    const { api, texts, formats, params } = context;
    const { id = '' } = params;
    const check = await api.get<Check>(path`/emails/${id}/check`);
    const fields = check.headers.map(({ name, value }) => `${name}: ${value}`);
    return {
      title: texts.check.title,
      body: (
        <>
          <Heading title={texts.check.title}>
            <a href={emailPath(context, id)}>{texts.email.back}</a>
          </Heading>
          <p class="muted">{texts.check.help}</p>
          <Facts
            facts={[
              [texts.check.size, formats.bytes(check.sizeBytes)],
              [texts.email.partNames.html, formats.bytes(check.htmlBytes)],
              [texts.email.partNames.text, formats.bytes(check.textBytes)],
            ]}
          />
          <Findings context={context} findings={check.findings} />
          <Links context={context} links={check.links} />
          {check.linksOmitted > 0 && (
            <p class="muted">{texts.check.omitted(formats.number(check.linksOmitted))}</p>
          )}
          <h2>{texts.check.headers}</h2>
          <Source label={texts.check.headers} text={fields.join('\n')} />
        </>
      ),
    };
  },
});

function Findings({ context, findings }: { context: TenantContext; findings: Check['findings'] }) {
  const { check } = context.texts;
  return (
    <Table
      context={context}
      caption={check.findings}
      rows={findings}
      keyOf={({ code }) => code}
      empty={check.nothingFound}
      columns={[
        {
          label: check.severity,
          cell: ({ severity }) => <Status tone={TONES[severity]}>{check.severities[severity]}</Status>,
        },
        { label: check.finding, cell: ({ message }) => <Sentence context={context} text={message} /> },
        { label: check.count, isNumeric: true, cell: ({ count }) => context.formats.number(count) },
        {
          label: check.places,
          cell: ({ places }) =>
            places.map((place, index) => (
              <div key={String(index)}>
                <Foreign text={place.text} />
              </div>
            )),
        },
      ]}
    />
  );
}

/** The links are text: what stands in mail is not followed from here. */
function Links({ context, links }: { context: TenantContext; links: Check['links'] }) {
  const { check } = context.texts;
  return (
    <Table
      context={context}
      caption={check.links}
      rows={links.map((link, index) => ({ ...link, key: String(index) }))}
      keyOf={({ key }) => key}
      empty={check.noLinks}
      columns={[
        { label: check.line, isNumeric: true, cell: ({ line }) => context.formats.number(line) },
        { label: check.linkText, cell: ({ text }) => <Foreign text={text} /> },
        { label: check.url, cell: ({ url }) => <Foreign text={url} /> },
      ]}
    />
  );
}
