/** Mail that waits for the approval of a person, and what was decided. Each row leads to the mail, and decides about it. */
import type { Static } from 'typebox';
import { type ShownApproval, STATES } from '../../../approvals/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { AppError } from '../../../system/errors.ts';
import type { apiKeySchema } from '../../../tenants/schemas.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { shortened } from '../../frame/shortened.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { APPROVAL_TONES, decisionActions } from './decision.tsx';

type Approvals = { data: readonly ShownApproval[]; hasMore: boolean };

/** Number of approvals on a page. Each of them is read before it is decided. */
const SHOWN = 20;

export const approvalsPage = definePage({
  area: 'tenant',
  path: '/approvals',
  menu: { group: 'sending', label: ({ approvals }) => approvals.title },
  async show(context) {
    const { api, query, texts } = context;
    const state = STATES.find((one) => one === query.get('state')) ?? 'pending';
    const page = await api.get<Approvals>('/approvals', { ...pageQueryOf(query, []), state, limit: SHOWN });
    const keyNames = await keyNamesOf(context, page.data);
    return {
      title: texts.approvals.title,
      body: (
        <>
          <Heading title={texts.approvals.title} />
          <p>{texts.approvals.help}</p>
          <States context={context} shown={state} />
          <ApprovalTable context={context} state={state} rows={page.data} keyNames={keyNames} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: decisionActions((_, form) => {
    const [kind, id] = [fieldOf(form, 'kind'), fieldOf(form, 'id')];
    return kind === 'broadcast' ? path`/broadcasts/${id}` : path`/emails/${id}`;
  }),
});

function States({ context, shown }: { context: TenantContext; shown: ShownApproval['state'] }) {
  const { approvals } = context.texts;
  return (
    <nav class="tabs" aria-label={approvals.state}>
      <ul>
        {STATES.map((state) => (
          <li key={state}>
            <a href={`?state=${state}`} aria-current={state === shown ? 'true' : undefined}>
              {approvals.states[state]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

type TableProps = {
  context: TenantContext;
  state: ShownApproval['state'];
  rows: readonly ShownApproval[];
  keyNames: ReadonlyMap<string, string>;
};

function ApprovalTable({ context, state, rows, keyNames }: TableProps) {
  const { approvals, frame } = context.texts;
  const isPending = state === 'pending';
  const time = (at: string | null) => <Time context={context} at={at} />;
  const decide = {
    label: frame.actions,
    cell: (row: ShownApproval) => <Decision context={context} approval={row} />,
  };
  return (
    <Table
      context={context}
      caption={approvals.states[state]}
      rows={rows}
      keyOf={({ id }) => id}
      empty={isPending ? approvals.nothingWaits : frame.nothing}
      columns={[
        { label: approvals.mail, cell: (row) => <Mail context={context} approval={row} /> },
        { label: approvals.from, cell: ({ from }) => <Foreign text={from} /> },
        {
          label: approvals.askedBy,
          cell: ({ keyId }) => <Foreign text={keyNames.get(keyId) ?? keyId} />,
        },
        { label: approvals.askedAt, cell: ({ createdAt }) => time(createdAt) },
        {
          label: approvals.sendAt,
          cell: ({ sendAt }) => (sendAt === null ? approvals.atOnce : time(sendAt)),
        },
        isPending
          ? { label: approvals.expiresAt, cell: ({ expiresAt }) => time(expiresAt) }
          : { label: approvals.decidedAt, cell: ({ decidedAt }) => time(decidedAt) },
        isPending
          ? { label: approvals.content, cell: (row) => <ContentLink context={context} approval={row} /> }
          : { label: approvals.reason, cell: ({ reason }) => <Foreign text={reason} /> },
        ...(isPending && context.can('write') ? [decide] : []),
      ]}
    />
  );
}

type RowProps = { context: TenantContext; approval: ShownApproval };

/** Returns the address of the page of the mail, with the place of the page that shows its content. */
function mailOf({ at }: TenantContext, { emailId, broadcastId }: ShownApproval) {
  return broadcastId === null
    ? { page: at(path`/emails/${emailId ?? ''}`), content: '#content-parts' }
    : { page: at(path`/broadcasts/${broadcastId}`), content: '#preview' };
}

function Mail({ context, approval }: RowProps) {
  const { approvals } = context.texts;
  const { kind, state, subject } = approval;
  return (
    <>
      <a href={mailOf(context, approval).page}>
        <Foreign text={subject} />
      </a>
      <br />
      <small class="muted">{approvals.kinds[kind]}</small>{' '}
      {state !== 'pending' && <Status tone={APPROVAL_TONES[state]}>{approvals.states[state]}</Status>}
    </>
  );
}

/** Maximum length of a subject in a name that a screen reader reads out. */
const MAX_READ_CHARACTERS = 80;

/** Returns what names a mail among others, which may have the same subject. */
function nameOf({ subject, emailId, broadcastId }: RowProps['approval']): string {
  return `${shortened(subject, MAX_READ_CHARACTERS)} (${emailId ?? broadcastId})`;
}

function ContentLink({ context, approval }: RowProps) {
  const { approvals } = context.texts;
  const { page, content } = mailOf(context, approval);
  return (
    <a href={page + content} aria-label={`${approvals.preview}: ${nameOf(approval)}`}>
      {approvals.preview}
    </a>
  );
}

function Decision({ context, approval }: RowProps) {
  const { approvals } = context.texts;
  const { kind, hash, emailId, broadcastId } = approval;
  const about = { kind, id: emailId ?? broadcastId ?? '' };
  const { failed } = context;
  const isOpen = failed?.action === 'decline' && fieldOf(failed.form, 'id') === about.id;
  const row = { context, about, fields: { hash } };
  return (
    <div class="buttons">
      <ActionButton
        {...row}
        action="approve"
        submit={approvals.approve}
        label={`${approvals.approve}: ${nameOf(approval)}`}
      />
      <Disclosure label={approvals.decline} isOpen={isOpen}>
        <p>{approvals.declineText}</p>
        <ActionButton
          {...row}
          action="decline"
          submit={approvals.declineNow}
          label={`${approvals.declineNow}: ${nameOf(approval)}`}
          isDangerous
        />
      </Disclosure>
    </div>
  );
}

/** Returns the names of the keys that have asked. A viewer sees no keys, and neither are those shown that were deleted since. */
async function keyNamesOf({ api, can }: TenantContext, rows: Approvals['data']) {
  const names = new Map<string, string>();
  if (!can('write')) return names;
  for (const id of new Set(rows.map(({ keyId }) => keyId))) {
    try {
      names.set(id, (await api.get<Static<typeof apiKeySchema>>(path`/api-keys/${id}`)).name);
    } catch (refusal) {
      if (!(refusal instanceof AppError)) throw refusal;
    }
  }
  return names;
}
