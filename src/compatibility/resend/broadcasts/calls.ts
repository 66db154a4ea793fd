/** The calls about broadcasts. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { type Calls, path } from '../../../http/json/calls.ts';
import { isoTime } from '../../../system/clock.ts';
import { AppError, invalid } from '../../../system/errors.ts';
import type { Access, Call, Given } from '../call.ts';
import { type Fields, fieldsOf, isGiven, requireSpelling } from '../fields.ts';
import { askPage, showPage } from '../lists.ts';
import { readScheduledAt } from '../schedule.ts';
import {
  changeFrom,
  changesHtml,
  copyOf,
  newBroadcastFrom,
  showBroadcast,
  showBroadcastItem,
} from './fields.ts';
import { recipientFilterFrom, showClickedLink, showRecipient } from './recipients.ts';

const named = ({ id }: { id: string }) => ({ object: 'broadcast', id });

export const broadcastCalls: readonly Call[] = [
  {
    at: 'POST /broadcasts',
    operation: 'createBroadcast',
    ask: ({ body, now }) => ({
      body: { ...newBroadcastFrom(fieldsOf(body)), ...planOf(fieldsOf(body), now) },
    }),
    answer: named,
  },
  { at: 'GET /broadcasts', operation: 'listBroadcasts', ask: askPage, answer: showPage(showBroadcastItem) },
  { at: 'GET /broadcasts/:id', operation: 'getBroadcast', answer: showBroadcast },
  { at: 'PATCH /broadcasts/:id', operation: 'updateBroadcast', ask: askChange, answer: named },
  {
    at: 'DELETE /broadcasts/:id',
    operation: 'deleteBroadcast',
    answer: (_: undefined, { params: { id } }) => ({ object: 'broadcast', id, deleted: true }),
  },
  { at: 'POST /broadcasts/:id/send', operation: 'sendBroadcast', run: send },
  { at: 'POST /broadcasts/:id/cancel', operation: 'cancelBroadcast', run: cancel },
  {
    at: 'POST /broadcasts/:id/duplicate',
    operation: 'createBroadcast',
    run: async (given, calls) =>
      named(await calls.post<ShownBroadcast>('/broadcasts', copyOf(await getBroadcast(given, calls)))),
  },
  {
    at: 'GET /broadcasts/:id/recipients',
    operation: 'listBroadcastRecipients',
    ask: (given) => ({ query: { ...askPage(given).query, ...recipientFilterFrom(given.query) } }),
    answer: showPage(showRecipient),
  },
  {
    at: 'GET /broadcasts/:id/clicked-links',
    operation: 'listClickedLinks',
    answer: showPage(showClickedLink),
  },
];

/**
 * Returns when a new broadcast is sent. To send it at once is to schedule it for now, so that there is no draft without its sending.
 * @throws AppError validation_error
 */
function planOf(fields: Fields, now: number): { scheduleAt?: string } {
  requireSpelling(fields, ['scheduled_at']);
  const { send, scheduled_at: at } = fields;
  const isScheduled = isGiven(at);
  if (isGiven(send) && typeof send !== 'boolean') throw invalid('send', '`send` must be a boolean');
  if (isScheduled && send !== true)
    throw invalid('scheduled_at', '`scheduled_at` requires `send` to be true');
  if (send !== true) return {};
  return { scheduleAt: isScheduled ? readScheduledAt(at, now) : isoTime(now) };
}

async function askChange(given: Given, { calls }: Access) {
  const fields = fieldsOf(given.body);
  const before = changesHtml(fields) ? (await getBroadcast(given, calls())).html : null;
  return { body: changeFrom(fields, before) };
}

async function send(given: Given, calls: Calls) {
  const fields = given.body === undefined ? {} : fieldsOf(given.body);
  requireSpelling(fields, ['scheduled_at']);
  const { scheduled_at: at } = fields;
  const one = path`/broadcasts/${idOf(given)}`;
  if (!isGiven(at)) return named(await calls.post<ShownBroadcast>(`${one}/send`));
  const scheduleAt = readScheduledAt(at, given.now);
  return named(await calls.patch<ShownBroadcast>(one, { scheduleAt }));
}

/**
 * Cancels a broadcast as Resend does: one that is scheduled becomes a draft again.
 * @throws AppError invalid_state
 */
async function cancel(given: Given, calls: Calls) {
  const { id, status } = await getBroadcast(given, calls);
  const one = path`/broadcasts/${id}`;
  switch (status) {
    case 'scheduled':
      return named(await calls.patch<ShownBroadcast>(one, { scheduleAt: null }));
    case 'sending':
    case 'paused':
      return named(await calls.post<ShownBroadcast>(`${one}/cancel`));
    default:
      throw new AppError('invalid_state', `A broadcast that is ${status} cannot be canceled`);
  }
}

function getBroadcast(given: Given, calls: Calls): Promise<ShownBroadcast> {
  return calls.get(path`/broadcasts/${idOf(given)}`);
}

function idOf({ params: { id = '' } }: Given): string {
  return id;
}
