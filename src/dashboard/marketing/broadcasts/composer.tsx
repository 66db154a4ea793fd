/** The form in which a broadcast is written. */
import type { BroadcastChange, ShownBroadcast } from '../../../broadcasts/schemas.ts';
import type { Form as FormBody } from '../../../http/pages/form-body.ts';
import { MAX_SOURCE_BYTES } from '../../../templates/schemas.ts';
import { Field, Form } from '../../frame/forms.tsx';
import { fieldOf, type TenantContext } from '../../page.ts';
import type { Domains } from '../../sending/domains/choice.tsx';
import { Choice, chosenId, listNewest, optionsOf } from '../choices.tsx';
import { NoAudiences } from '../no-audiences.tsx';

/** Limit of the form: HTML and text, and the other fields. */
export const COMPOSER_UPLOAD = { maxBytes: 2 * MAX_SOURCE_BYTES + 64 * 1024, maxFiles: 0 };

/** Fields of the form that the audit log has. */
export const COMPOSER_LOGS = ['target', 'topicId', 'from', 'replyTo', 'templateId'] as const;

type Named = { id: string; name: string };

/** Fields that the form has. */
type Draft = Pick<
  ShownBroadcast,
  'from' | 'subject' | 'replyTo' | 'audienceId' | 'segmentId' | 'topicId' | 'templateId' | 'html' | 'text'
>;

/** Returns the form with the fields of a draft, or with what the address of the page names. */
export async function composerForm(context: TenantContext, action: string, draft?: Draft) {
  const { api, texts, query } = context;
  const { broadcasts } = texts;
  const audiences = await listNewest<Named>(api, '/audiences');
  const segments = await listNewest<Named>(api, '/segments');
  const topics = await listNewest<Named>(api, '/topics');
  const templates = await listNewest<Named>(api, '/templates');
  const target = draft ? (draft.segmentId ?? draft.audienceId) : query.get('segmentId');
  const field = { context, action };
  const from = draft?.from ?? (await lastSender(context));
  return (
    <Form context={context} action={action} submit={broadcasts.saveDraft} hasFiles keepsDraft>
      {audiences.data.length === 0 && <NoAudiences context={context} />}
      <Choice
        {...field}
        name="target"
        label={broadcasts.to}
        isRequired
        value={target ?? query.get('audienceId') ?? ''}
        options={[
          ...segments.data.map(({ id, name }) => ({ value: id, label: broadcasts.segment(name) })),
          ...audiences.data.map(({ id, name }) => ({ value: id, label: broadcasts.wholeAudience(name) })),
        ]}
        hasMore={audiences.hasMore || segments.hasMore}
      />
      <Choice
        {...field}
        name="topicId"
        label={broadcasts.topic}
        value={draft?.topicId ?? ''}
        none={broadcasts.noTopic}
        options={optionsOf(topics.data)}
        hasMore={topics.hasMore}
      />
      <Field
        {...field}
        name="from"
        label={broadcasts.from}
        help={broadcasts.fromHelp}
        value={from}
        isRequired
      />
      <Field {...field} name="replyTo" label={broadcasts.replyTo} value={draft?.replyTo ?? ''} />
      <Field
        {...field}
        name="subject"
        label={broadcasts.subject}
        help={broadcasts.subjectHelp}
        value={draft?.subject}
        isRequired
      />
      <Choice
        {...field}
        name="templateId"
        label={broadcasts.template}
        value={draft?.templateId ?? query.get('templateId') ?? ''}
        none={broadcasts.ownContent}
        options={optionsOf(templates.data)}
        hasMore={templates.hasMore}
      />
      <Field
        {...field}
        name="html"
        label={broadcasts.html}
        help={broadcasts.htmlHelp}
        rows={16}
        value={draft?.html ?? ''}
      />
      <Field
        {...field}
        name="text"
        label={broadcasts.text}
        help={broadcasts.textHelp}
        rows={6}
        value={draft?.text ?? ''}
      />
    </Form>
  );
}

/** The sender of the newest broadcast is the likely one of the next; the first one is at a domain that may send. */
async function lastSender({ api }: TenantContext): Promise<string> {
  const { data } = await api.get<{ data: { from: string }[] }>('/broadcasts', { limit: 1 });
  if (data[0]) return data[0].from;
  const verified = await api.get<Domains>('/domains', { status: 'verified', limit: 1 });
  return verified.data[0] ? `news@${verified.data[0].name}` : '';
}

const SEGMENTS = { path: '/segments', prefix: 'seg' };
const AUDIENCES = { path: '/audiences', prefix: 'aud' };
const TOPICS = { path: '/topics', prefix: 'top' };
const TEMPLATES = { path: '/templates', prefix: 'tpl', query: (name: string) => ({ name }) };

/**
 * Returns the broadcast of the form, as the API takes it. Fields that are empty are cleared.
 * @throws AppError validation_error for a choice of what there is not
 */
export async function readComposer({ api }: TenantContext, form: FormBody): Promise<BroadcastChange> {
  const given = (name: string) => fieldOf(form, name).trim() || null;
  const chosen = (field: string, lists: Parameters<typeof chosenId>[1]['lists']) =>
    chosenId(api, { field, text: given(field) ?? '', lists });
  const target = await chosen('target', [SEGMENTS, AUDIENCES]);
  const isSegment = target?.startsWith('seg_') === true;
  return {
    audienceId: isSegment ? null : target,
    segmentId: isSegment ? target : null,
    topicId: await chosen('topicId', [TOPICS]),
    from: given('from') ?? '',
    replyTo: given('replyTo'),
    subject: given('subject') ?? '',
    templateId: await chosen('templateId', [TEMPLATES]),
    html: given('html'),
    text: given('text'),
  };
}
