/** The facts of an email: its addresses, times, ids, and what it belongs to. */
import type { ComponentChildren } from 'preact';
import { path } from '../../../http/json/calls.ts';
import { Copyable, Facts, Foreign, Time } from '../../frame/elements.tsx';
import type { TenantContext } from '../../page.ts';
import { KeyLink } from '../keys/choice.tsx';
import type { Email } from './recipients.tsx';
import { EmailStatusMark } from './states.tsx';

type Props = { context: TenantContext; email: Email };
type Fact = readonly [string, ComponentChildren];

/** The facts that an email has; fields without a value are left out. */
export function EmailFacts({ context, email }: Props) {
  const { texts } = context;
  const time = (at: string) => <Time context={context} at={at} />;
  const list = (addresses: readonly string[]) => <Foreign text={addresses.join(', ')} />;
  const some = (isShown: boolean, name: string, value: () => ComponentChildren): Fact[] =>
    isShown ? [[name, value()]] : [];
  const facts: Fact[] = [
    [texts.email.status, <EmailStatusMark key="status" context={context} status={email.status} />],
    [texts.email.from, <Foreign key="from" text={email.from} />],
    [texts.email.to, list(email.to)],
    ...some(email.cc.length > 0, texts.email.cc, () => list(email.cc)),
    ...some(email.bcc.length > 0, texts.email.bcc, () => list(email.bcc)),
    ...some(email.replyTo.length > 0, texts.email.replyTo, () => list(email.replyTo)),
    [texts.email.type, texts.email.types[email.type]],
    [texts.email.createdAt, time(email.createdAt)],
    ...some(email.scheduledAt !== null, texts.email.scheduledAt, () => time(email.scheduledAt ?? '')),
    [texts.email.lastEventAt, time(email.lastEventAt)],
    [texts.email.id, <Copyable key="id" context={context} text={email.id} />],
    [texts.email.messageId, <Copyable key="messageId" context={context} text={email.messageId} />],
    ...belongings({ context, email }),
    ...some(Object.keys(email.tags).length > 0, texts.email.tags, () => (
      <Tags context={context} tags={email.tags} />
    )),
    ...some(email.missingVariables.length > 0, texts.email.missingVariables, () => (
      <Foreign text={email.missingVariables.join(', ')} />
    )),
  ];
  return <Facts facts={facts} />;
}

/** Links to what an email was made from. */
function belongings({ context, email }: Props): Fact[] {
  const { at, texts } = context;
  const { templateId, broadcastId, topicId, apiKeyId } = email;
  const link = (name: string, kind: string, id: string): Fact => [
    name,
    <a key={id} href={at(`/${kind}/${encodeURIComponent(id)}`)}>
      <code>{id}</code>
    </a>,
  ];
  return [
    ...(templateId === null ? [] : [link(texts.email.template, 'templates', templateId)]),
    ...(broadcastId === null ? [] : [link(texts.email.broadcast, 'broadcasts', broadcastId)]),
    ...(topicId === null ? [] : [link(texts.email.topic, 'topics', topicId)]),
    ...(apiKeyId === null
      ? []
      : [
          [
            texts.requests.key,
            <KeyLink key={apiKeyId} context={context} keyId={apiKeyId} name={undefined} />,
          ] as const,
        ]),
  ];
}

function Tags({ context, tags }: { context: TenantContext; tags: Email['tags'] }) {
  return (
    <>
      {Object.entries(tags).map(([name, value]) => (
        <div key={name}>
          <a href={`${context.at('/emails')}?${new URLSearchParams({ tag: `${name}:${value}` })}`}>
            <Foreign text={`${name}: ${value}`} />
          </a>
        </div>
      ))}
    </>
  );
}

/** Returns the path of the page of an email. */
export function emailPath({ at }: Pick<TenantContext, 'at'>, id: string): string {
  return at(path`/emails/${id}`);
}
