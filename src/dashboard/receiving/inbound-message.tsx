/** A received message: its envelope, the results of authentication, its text, its HTML in a frame, its files, and its posts to routes. */
import type { Static } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { receivedSchema } from '../../routes/messages/schemas.ts';
import { Copyable, Facts, Foreign, Heading, Status, Time, type Tone } from '../frame/elements.tsx';
import { ActionButton, Disclosure } from '../frame/forms.tsx';
import { LongText, Table } from '../frame/lists.tsx';
import { definePage, type TenantContext } from '../page.ts';

export type Message = Static<typeof receivedSchema>;
type Delivery = Message['deliveries'][number];

/** Maximum length of the text that the page shows. The whole message can be downloaded. */
const MAX_SHOWN_CHARACTERS = 50_000;

const TONES: Record<Delivery['status'], Tone> = { pending: 'neutral', delivered: 'good', failed: 'bad' };

/** Returns the path of the message of the page in the API. */
export function messageOf({ params }: Pick<TenantContext, 'params'>): string {
  return path`/inbound/messages/${params['id'] ?? ''}`;
}

export const inboundMessagePage = definePage({
  area: 'tenant',
  path: '/inbound/:id',
  async show(context) {
    const message = await context.api.get<Message>(messageOf(context));
    const { inbound } = context.texts;
    const { contentDeletedAt, subject, html, text, deliveries } = message;
    const title = subject || inbound.noSubject;
    return {
      title,
      body: (
        <>
          <Heading title={title}>
            {contentDeletedAt === null && <a href={`${context.path}/raw`}>{inbound.raw}</a>}
          </Heading>
          <About context={context} message={message} />
          {message.truncated && <p class="notice">{inbound.truncated}</p>}
          {text !== '' && <Text context={context} text={text} />}
          {html !== '' && <Html context={context} />}
          <Files context={context} message={message} />
          <Posts context={context} deliveries={deliveries} />
          <Headers context={context} message={message} />
        </>
      ),
    };
  },
  actions: {
    replay: {
      async run(context) {
        await context.api.post(`${messageOf(context)}/replay`);
        return { to: context.path, said: 'replayed' };
      },
    },
  },
});

type Props = { context: TenantContext; message: Message };

function About({ context, message }: Props) {
  const { inbound, frame } = context.texts;
  const { from, cc, envelope, auth, spam, emailId } = message;
  return (
    <Facts
      facts={[
        [inbound.from, <Foreign text={from} />],
        [inbound.to, <Foreign text={message.to.join(', ')} />],
        ...(cc.length > 0 ? [[inbound.cc, <Foreign text={cc.join(', ')} />] as const] : []),
        [inbound.at, <Time context={context} at={message.createdAt} />],
        [inbound.envelopeFrom, <Foreign text={envelope.from || inbound.emptySender} />],
        [inbound.envelopeTo, <Foreign text={envelope.to.join(', ')} />],
        [inbound.server, <Foreign text={[envelope.remoteIp, envelope.helo ?? ''].join(' ')} />],
        ['SPF', <Result context={context} result={auth.spf} />],
        ['DKIM', <Result context={context} result={auth.dkim} />],
        ['DMARC', <Result context={context} result={auth.dmarc} />],
        [inbound.signedBy, <Foreign text={auth.dkimDomains.join(', ') || frame.none} />],
        [inbound.spam, <Spam context={context} spam={spam} />],
        [inbound.size, context.formats.bytes(message.size)],
        ['Message-ID', <Foreign text={message.messageId ?? frame.none} />],
        ...(emailId === null
          ? []
          : [[inbound.answers, <a href={context.at(`/emails/${emailId}`)}>{emailId}</a>] as const]),
        ...(message.contentDeletedAt === null
          ? []
          : [[inbound.contentDeleted, <Time context={context} at={message.contentDeletedAt} />] as const]),
        ['Id', <Copyable context={context} text={message.id} />],
      ]}
    />
  );
}

/** A result of authentication (RFC 8601 section 2.7). */
function Result({ context, result }: { context: TenantContext; result: string }) {
  const words: Readonly<Record<string, string>> = context.texts.inbound.results;
  const tone = result === 'pass' ? 'good' : result === 'fail' || result === 'permerror' ? 'bad' : 'neutral';
  return <Status tone={tone}>{words[result] ?? result}</Status>;
}

function Spam({
  context,
  spam: { score, flagged, reasons },
}: {
  context: TenantContext;
  spam: Message['spam'];
}) {
  const { texts, formats } = context;
  const { inbound } = texts;
  if (score === null) return <>{inbound.notJudged}</>;
  return (
    <>
      <Status tone={flagged ? 'warning' : 'good'}>{flagged ? inbound.flagged : inbound.notFlagged}</Status>{' '}
      {formats.number(score)}
      {reasons.length > 0 && ': '}
      {reasons.map(({ name, points }) => `${name} ${formats.number(points)}`).join(', ')}
    </>
  );
}

function Text({ context, text }: { context: TenantContext; text: string }) {
  const { inbound } = context.texts;
  return (
    <>
      <h2>{inbound.text}</h2>
      <LongText label={inbound.text} text={text.slice(0, MAX_SHOWN_CHARACTERS)} />
      {text.length > MAX_SHOWN_CHARACTERS && <p class="notice">{inbound.textIsCut}</p>}
    </>
  );
}

function Html({ context }: { context: TenantContext }) {
  const { inbound } = context.texts;
  return (
    <>
      <h2>HTML</h2>
      <p>{inbound.htmlText}</p>
      <iframe class="preview" sandbox="" title={inbound.htmlTitle} src={`${context.path}/html`} />
    </>
  );
}

function Files({ context, message: { attachments, contentDeletedAt } }: Props) {
  const { inbound, frame } = context.texts;
  const { formats } = context;
  if (attachments.length === 0) return null;
  return (
    <>
      <h2>{inbound.files}</h2>
      <Table
        context={context}
        caption={inbound.files}
        rows={attachments}
        keyOf={({ id }) => id}
        columns={[
          { label: inbound.filename, cell: ({ filename }) => <Foreign text={filename} /> },
          { label: inbound.type, cell: ({ contentType }) => <Foreign text={contentType} /> },
          { label: inbound.size, cell: ({ size }) => formats.bytes(size), isNumeric: true },
          {
            label: frame.actions,
            cell: ({ id, filename }) =>
              contentDeletedAt === null && (
                <a href={`${context.path}/files/${id}`} aria-label={`${inbound.download}: ${filename}`}>
                  {inbound.download}
                </a>
              ),
          },
        ]}
      />
    </>
  );
}

function Posts({ context, deliveries }: { context: TenantContext; deliveries: readonly Delivery[] }) {
  const { inbound, routes, frame } = context.texts;
  return (
    <>
      <h2>{inbound.posts}</h2>
      <Table
        context={context}
        caption={inbound.posts}
        rows={deliveries}
        keyOf={({ id }) => id}
        empty={inbound.noPosts}
        columns={[
          {
            label: routes.route,
            cell: ({ routeId }) => <a href={context.at(`/routes/${routeId}`)}>{routeId}</a>,
          },
          {
            label: inbound.status,
            cell: ({ status }) => <Status tone={TONES[status]}>{inbound.statuses[status]}</Status>,
          },
          { label: inbound.attempts, cell: ({ attempts }) => String(attempts), isNumeric: true },
          { label: inbound.answer, cell: (delivery) => <AnswerOf context={context} delivery={delivery} /> },
          {
            label: inbound.nextAttempt,
            cell: ({ nextAttemptAt }) =>
              nextAttemptAt === null ? frame.none : <Time context={context} at={nextAttemptAt} />,
          },
        ]}
      />
      {deliveries.length > 0 && context.can('write') && (
        <Disclosure label={inbound.replay} isOpen={context.failed?.action === 'replay'}>
          <p>{inbound.replayText}</p>
          <ActionButton context={context} action="replay" submit={inbound.replay} />
        </Disclosure>
      )}
    </>
  );
}

/** What the receiver has answered last. */
function AnswerOf({ context, delivery }: { context: TenantContext; delivery: Delivery }) {
  const { responseStatus, responseTimeMs, error, responseBody } = delivery;
  const facts = [
    responseStatus === null ? '' : String(responseStatus),
    responseTimeMs === null ? '' : `${context.formats.number(responseTimeMs)} ms`,
  ];
  return (
    <>
      {facts.join(' ')} <Foreign text={error} />
      {responseBody !== null && responseBody !== '' && (
        <Disclosure label={context.texts.inbound.responseBody}>
          <pre dir="auto">{responseBody}</pre>
        </Disclosure>
      )}
    </>
  );
}

function Headers({ context, message: { rawHeaders } }: Props) {
  const { inbound } = context.texts;
  if (rawHeaders.length === 0) return null;
  return (
    <Disclosure label={inbound.headers}>
      <Table
        context={context}
        caption={inbound.headers}
        rows={rawHeaders.map((field, index) => ({ ...field, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { label: inbound.fieldName, cell: ({ name }) => <Foreign text={name} /> },
          { label: inbound.fieldValue, cell: ({ value }) => <Foreign text={value} /> },
        ]}
      />
    </Disclosure>
  );
}
