/** Prepares a second broadcast for those who got the first one and did not open it. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import type { Answer, TenantContext } from '../../page.ts';
import { getBroadcast } from './facts.tsx';

/** Maximum length of the name of a segment. */
const MAX_NAME_CHARACTERS = 200;

/** Makes a segment of those contacts and a draft for it, and leads to the draft. Nothing is sent. */
export async function sendAgain(context: TenantContext): Promise<Answer> {
  const { api, texts, at } = context;
  const { id, audienceId, ...broadcast } = await getBroadcast(context);
  const { from, subject, replyTo, topicId, templateId, html, text } = broadcast;
  const name = [...texts.broadcasts.againName(subject)].slice(0, MAX_NAME_CHARACTERS).join('');
  const filter = {
    op: 'and',
    rules: [
      { field: 'delivered', cmp: 'eq', value: id },
      { field: 'opened', cmp: 'ne', value: id },
    ],
  };
  const segment = await api.post<{ id: string }>('/segments', { name, audienceId, filter });
  const draft = await api.post<ShownBroadcast>('/broadcasts', {
    segmentId: segment.id,
    from,
    subject,
    replyTo,
    topicId,
    templateId,
    html,
    text,
  });
  return { to: at(`/broadcasts/${draft.id}`), said: 'created' };
}
